"""Communication is recognised whatever its name; and nothing else is taken for it."""

# ruff: noqa: E501 (literal names)

from __future__ import annotations

import pytest

from laptime.kernels import decode, is_comm
from tests.kernels.reading_table import Case, check

CASES = [
    Case("ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)", "NCCL", "all_reduce", "fp32"),
    Case("ncclKernel_AllReduce_TREE_LL128_Sum_half(ncclDevComm*, unsigned long, ncclWork*)", "NCCL",
         "all_reduce", "fp16"),
    Case("ncclAllReduceRingLLKernel_sum_f32(ncclColl)", "NCCL", "all_reduce", "fp32"),
    Case("ncclAllReduceTreeLL128Kernel_sum_f16(ncclWorkElem)", "NCCL", "all_reduce", "fp16"),
    Case("ncclBroadcastRingKernel_copy_i8(ncclColl)", "NCCL", "broadcast"),
    Case("ncclReduceRingLLKernel_max_f64(ncclColl)", "NCCL", "reduce_to_root", "fp64"),
    Case("void acme::push_rows<float>(ncclDevComm*, float*)", "unknown", "collective"),
    Case("ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclDevComm*, unsigned long, ncclWork*)", "NCCL",
         "send_recv"),
    Case("ncclKernel_AllGather_RING_LL_Sum_int8_t(ncclDevComm*, unsigned long, ncclWork*)", "NCCL",
         "all_gather"),
    Case("ncclKernel_ReduceScatter_RING_LL_Sum_double(ncclDevComm*)", "NCCL", "reduce_scatter", "fp64"),
    Case("ncclKernel_Broadcast_RING_LL_Sum_int8_t(ncclWorkElem)", "NCCL", "broadcast"),
    Case("ncclKernel_Reduce_RING_LL_Sum_float(ncclWorkElem)", "NCCL", "reduce_to_root", "fp32"),
    Case("ncclKernel_AllToAll_RING_LL_Sum_int8_t(ncclWorkElem)", "NCCL", "all_to_all"),
    Case("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "NCCL",
         "all_reduce", "bf16"),
    Case("ncclDevKernel_AllReduce_Sum_f16_TREE_LL(ncclDevComm*, unsigned long, ncclWork*)", "NCCL",
         "all_reduce", "fp16"),
    Case("ncclDevKernel_AllReduce_Sum_u8_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "NCCL",
         "all_reduce"),
    Case("ncclDevKernel_ReduceScatter_Sum_f32_RING_LL(ncclDevKernelArgsStorage<(unsigned long)4096>)",
         "NCCL", "reduce_scatter", "fp32"),
    Case("ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "NCCL", "all_gather"),
    Case("ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", "NCCL", "send_recv"),
    Case("ncclDevKernel_Broadcast_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "NCCL", "broadcast"),
    Case("ncclSymkDevKernel_AllReduce_RSxLD_AGxST_Sum_bf16(ncclSymkDevWorkArgs)", "NCCL", "all_reduce",
         "bf16"),
    Case("ncclDevKernel_Generic(ncclDevKernelArgsStorage<4096ul>)", "NCCL", "collective"),
    Case("ncclDevKernel_Generic_4(ncclDevKernelArgsStorage<4096ul>)", "RCCL", "collective"),
    Case("_Z21ncclDevKernel_Generic24ncclDevKernelArgsStorageILm4096EE", "NCCL", "collective"),
    Case("void (anonymous namespace)::multimem_all_reduce_kernel<c10::BFloat16, 16>(c10::BFloat16*)",
         "symmetric memory", "all_reduce", "bf16"),
    Case("void (anonymous namespace)::one_shot_all_reduce_kernel<c10::BFloat16, 16, 8>(int)",
         "symmetric memory", "all_reduce", "bf16"),
    Case("void c10d::symmetric_memory::two_shot_all_reduce_kernel_inplace<float, 16, 8>(int)",
         "symmetric memory", "all_reduce", "fp32"),
    Case("void vllm::cross_device_reduce_1stage<__nv_bfloat16, 8>(vllm::RankData*)", "vLLM",
         "all_reduce", "bf16"),
    Case("void sglang::cross_device_reduce_2stage<half, 4>(sglang::RankData*)", "SGLang", "all_reduce",
         "fp16"),
    Case("void cross_device_reduce_2stage<__hip_bfloat16, 8>(int)", "unknown", "all_reduce", "bf16"),
    Case("void aiter::reduce_scatter_cross_device_store<__hip_bfloat16, 8>(int)", "AITER",
         "reduce_scatter", "bf16"),
    Case("void flashinfer::trtllm_allreduce_fusion::allreduce_fusion_kernel_oneshot_lamport<(flashinfer"
         "::trtllm_allreduce_fusion::AllReduceFusionPattern)1, __nv_bfloat16, 4>(int)",
         "TensorRT-LLM", "all_reduce", "bf16"),
    Case("void tensorrt_llm::kernels::ar_fusion::allreduce_fusion_kernel_oneshot_lamport<__half, 8>(int)",
         "TensorRT-LLM", "all_reduce", "fp16"),
    Case("void deep_ep::intranode::dispatch<(int)2, (int)768, (int)8192>(int4 *, float *)", "DeepEP",
         "all_to_all"),
    Case("void deep_ep::intranode::combine<__nv_bfloat16, 8, 768, 4096>(__nv_bfloat16*)", "DeepEP",
         "all_to_all"),
    Case("void deep_ep::intranode::notify_dispatch<8>(int const*, int*)", "DeepEP", "all_to_all"),
    Case("void deep_ep::intranode::cached_notify_combine<8>(void**, int*)", "DeepEP", "all_to_all"),
    Case("void deep_ep::internode::notify_dispatch<false, 4>(int const*)", "DeepEP", "all_to_all"),
    Case("void deep_ep::internode_ll::dispatch<true, true, 6144>(void *)", "DeepEP", "all_to_all"),
    Case("void primus_turbo::deep_ep::intranode::notify_dispatch<8>(int const*)", "DeepEP",
         "all_to_all"),
    Case("_ZN7deep_ep12internode_ll7combineILb0ELi7168ELi9EEEvPvS2_", "DeepEP", "all_to_all"),
    Case("void deep_ep::layout::get_dispatch_layout<256, 32, 8>(long const*)", "DeepEP", "moe_routing"),
    Case("void deep_ep::internode::get_dispatch_layout<256, 32, 8>(long const*)", "DeepEP",
         "moe_routing"),
    Case("void deep_ep::internode_ll::query_mask_buffer(int*)", "DeepEP", "setup"),
    Case("nvshmemi_proxy_barrier_all_kernel", "NVSHMEM", "barrier"),
    Case("void nvshmemi_alltoall_on_stream_kernel<int>(int)", "NVSHMEM", "all_to_all"),
    Case("void barrier_on_stream_kernel<(threadgroup_t)2>(int)", "NVSHMEM", "barrier"),
    Case("sync_all_on_stream_kernel()", "NVSHMEM", "barrier"),
    Case("void rdxn_on_stream_kernel<int, (rdxn_ops)1, (threadgroup_t)1>(int)", "NVSHMEM", "all_reduce"),
    Case("void reducescatter_on_stream_kernel<float, (rdxn_ops)0>(int)", "NVSHMEM", "reduce_scatter"),
    Case("void fcollect_on_stream_kernel<char, (threadgroup_t)2>(int)", "NVSHMEM", "all_gather"),
    Case("void broadcast_on_stream_kernel<char, (threadgroup_t)2>(int)", "NVSHMEM", "broadcast"),
    Case("signal_op_on_stream_kernel(unsigned long*)", "NVSHMEM", "send_recv"),
    Case("userbuffers_fp16_sum_inplace_gpu_rr<8>(int)", "Transformer Engine", "all_reduce"),
    Case("userbuffers_fp16_sum_inplace_gpu_mc_ag<8>(int)", "Transformer Engine", "all_gather"),
    Case("userbuffers_fp16_sum_inplace_gpu_rr_rs_oop_stride<4>(int)", "Transformer Engine",
         "reduce_scatter"),
    Case("kuserbuffers_pushsendrecv_multiatomic(int)", "Transformer Engine", "send_recv"),
    Case("c10d::symmetric_memory::(anonymous namespace)::barrier_kernel(unsigned int**, int)",
         "symmetric memory", "barrier"),
    Case("barrier_kernel(unsigned int**, int)", "unknown", "barrier"),
    Case("void mscclpp::allreduce7<float>(float*)", "mscclpp", "all_reduce"),
    Case("mscclKernel_Sum_half_Simple_false(ncclDevComm*)", "RCCL", "collective"),
    Case("my_company_fused_allreduce_v7", "unknown", "all_reduce"),
    Case("void acme::AllGatherPush<float>(float*)", "unknown", "all_gather"),
    Case("_triton_reduce_scatter_kernel", "unknown", "reduce_scatter"),
    Case("rocshmem_wg_put_kernel", "unknown", "collective"),
]  # fmt: skip

NOT_COMMUNICATION = [
    "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, int, 4> >(int)",
    "void at::native::_scatter_gather_elementwise_kernel<128, 8, int>(int)",
    "triton_red_fused_sum_0",
    "input_reduce_fusion_3",
    "loop_broadcast_fusion",
    "Memcpy PtoP (Device -> Device)",
    "volta_sgemm_128x64_nn",
    "_ep_scatter_kernel",
    "moe_align_block_size_kernel",
    "void at::native::vectorized_gather_kernel<16, long>(char*)",
    "small_to_all_kernel",
    "broadcast_add_kernel",
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name[:90])
def test_name_is_read(case: Case) -> None:
    check(case)
    assert is_comm(case.name) is decode(case.name).comm


@pytest.mark.parametrize("name", NOT_COMMUNICATION)
def test_is_not_communication(name: str) -> None:
    assert not is_comm(name)
