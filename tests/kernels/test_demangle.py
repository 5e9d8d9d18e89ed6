"""Names cut into function and template arguments, mangled or not, whole or cut off."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from laptime.kernels.demangle import read_mangled, split


@pytest.mark.parametrize(
    ("mangled", "text"),
    [
        (
            "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_15CUDAFunctor_addIfEE",
            "at::native::vectorized_elementwise_kernel<4, CUDAFunctor_add<float>",
        ),
        (
            "_ZN5aiter24add_rmsnorm_quant_kernelIDF16bDF16bLi256ELi16ELb0ELb1EEEvPT0_",
            "aiter::add_rmsnorm_quant_kernel<__bf16, __bf16, 256, 16, false, true>",
        ),
        ("_Z3addIdEvPT_", "add<double>"),
        ("_Z3addPf", "add"),
        ("_ZN12_GLOBAL__N_13addIN3c104HalfEEEvPT_", "add<c10::Half>"),
        ("_ZN2ns1fILin3EEEvv", "ns::f<-3>"),
        ("_Z1fIDF16_tEvv", "f<_Float16, unsigned short>"),
        ("_ZN5aiter30fmha_fwd_hd128_bf16_rtna_groupE.kd", "aiter::fmha_fwd_hd128_bf16_rtna_group"),
        ("_ZN7ck_tile6kentryILi1ENS_12Rmsnorm2dF", "ck_tile::kentry<1, Rmsnorm2dF"),
    ],
)
def test_mangled(mangled: str, text: str) -> None:
    assert read_mangled(mangled) == text


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("void a::(anonymous namespace)::f<4, float>(int)", "a::f"),
        ("void a::<unnamed>::f<(int)4, float>(int)", "a::f"),
        ("f(int)", "f"),
        ("volta_sgemm_128x64_nn", "volta_sgemm_128x64_nn"),
        ("std::enable_if<(((8)>(0)))&&b::c<d>::e, void>::type a::f<d, 8>(d*)", "a::f"),
        ("ns::f(ns::Params)", "ns::f"),
        ("__amd_rocclr_copyBuffer.kd", "__amd_rocclr_copyBuffer"),
    ],
)
def test_path(name: str, path: str) -> None:
    assert split(name).path == path


def test_casts_of_nsight_are_dropped() -> None:
    assert split("void f<(int)4, (bool)0, float>(T1 *)").args == "<4, 0, float>(T1 *)"


@given(st.text(alphabet="_ZN0123456789IJLESTbfijlmxDX PKRFGvcUC:<>(),*", max_size=80))
def test_anything_is_cut_without_error(text: str) -> None:
    assert isinstance(split("_Z" + text).path, str)
    assert isinstance(split(text).path, str)
