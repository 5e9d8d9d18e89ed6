"""Names of matrix-product kernels that scenarios launch, by vendor and data type."""

from __future__ import annotations

from tests.builder.variant import Variant

_TENSILE = "Bias_HA_S_SAV_UserArgs_MT256x128x64_MI16x16x1_SN_ISA942_K1_WS64_WG64_4_1"
_GEMMS = {
    "nvidia": {
        "bf16": "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn",
        "fp32": "ampere_sgemm_128x64_nn",
        "tf32": "sm80_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize128x128x16_stage4_warpsize2x2x1"
        "_tensor16x8x8_kernel",
    },
    "amd": {
        "bf16": f"Cijk_Alik_Bljk_BBS_BH_{_TENSILE}",
        "fp32": f"Cijk_Alik_Bljk_SB_{_TENSILE}",
        "tf32": f"Cijk_Alik_Bljk_S_MX_B_{_TENSILE}",
    },
}


def gemm(variant: Variant, dtype: str) -> str:
    """The name of a matrix product of a data type ("bf16", "fp32", "tf32")."""
    return _GEMMS["amd" if variant.vendor == "amd" else "nvidia"][dtype]
