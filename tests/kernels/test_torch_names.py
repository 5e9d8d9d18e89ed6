"""ATen, Apex, CUB, Thrust: the operation of the functor, the type of the element."""

# ruff: noqa: E501 (literal names)

from __future__ import annotations

import pytest

from tests.kernels.reading_table import Case, check

_COPY = (
    "at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#3}::operator()() const"
    "::{lambda()#7}::operator()() const::{lambda(float)#1}"
)
_MANGLED_COPY = (
    "_ZN2at6native29vectorized_elementwise_kernelILi4EZZZNS0_23direct_copy_kernel_cudaERNS_18Tensor"
    "IteratorBaseEENKUlvE1_clEvENKUlvE10_clEvEUlN3c108BFloat16EE_St5arrayIPcLm2EEEEviT0_T1_"
)
_CLAMP = (
    "at::native::(anonymous namespace)::launch_clamp_scalar(at::TensorIteratorBase&, c10::Scalar, "
    "c10::Scalar, at::native::detail::ClampLimits)::{lambda()#1}::operator()() const::{lambda()#7}::"
    "operator()() const::{lambda(float)#1}"
)

CASES = [
    Case("void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, "
         "at::detail::Array<char*, 3> >(int, at::native::CUDAFunctor_add<float>, "
         "at::detail::Array<char*, 3>)", "ATen", "elementwise", "fp32"),
    Case("void at::native::vectorized_elementwise_kernel<(int)4, at::native::CUDAFunctorOnSelf_add<"
         "float>, std::array<char *, (unsigned long)2>>(int, T2, T3)", "ATen", "elementwise", "fp32"),
    Case("_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_15CUDAFunctor_addIfEESt5arrayIPcLm3EEEE"
         "viT0_T1_", "ATen", "elementwise", "fp32"),
    Case("_ZN2at6native18elementwise_kernelILi128ELi2EZNS0_22gpu_kernel_impl_nocastINS0_15CUDAFunctor"
         "_addIfEEEEvRNS_18TensorIteratorBaseERKT_EUliE_EEviT1_", "ATen", "elementwise", "fp32"),
    Case("void at::native::elementwise_kernel<128, 2, at::native::gpu_kernel_impl<at::native::"
         "CUDAFunctor_add<float> >(at::TensorIteratorBase&, at::native::CUDAFunctor_add<float> const&)"
         "::{lambda(int)#1}>(int, int)", "ATen", "elementwise", "fp32"),
    Case("void at::native::vectorized_elementwise_kernel<4, at::native::BinaryFunctor<c10::BFloat16, "
         "c10::BFloat16, c10::BFloat16, at::native::binary_internal::MulFunctor<float> >, std::array<"
         "char*, 3ul> >(int)", "ATen", "elementwise", "bf16"),
    Case("void at::native::vectorized_elementwise_kernel<4, at::native::AUnaryFunctor<long, long, "
         "bool, at::native::(anonymous namespace)::CompareEqFunctor<long> >, std::array<char*, 2ul> >"
         "(int)", "ATen", "elementwise", "int64"),
    Case("void at::native::vectorized_elementwise_kernel<4, " + _CLAMP + ", std::array<char*, 2ul> >"
         "(int)", "ATen", "elementwise", "fp32"),
    Case("void at::native::vectorized_elementwise_kernel<4, at::native::tanh_kernel_cuda(at::"
         "TensorIteratorBase&)::{lambda()#2}::operator()() const::{lambda()#4}::operator()() const::"
         "{lambda(c10::BFloat16)#1}, std::array<char*, 2ul> >(int)", "ATen", "elementwise", "bf16"),
    Case("void at::native::elementwise_kernel<128, 2, at::native::gpu_kernel_impl<at::native::"
         "(anonymous namespace)::where_kernel_impl(at::TensorIterator&)::{lambda()#1}::operator()() "
         "const::{lambda()#7}::operator()() const::{lambda(bool, float, float)#1}>(int)", "ATen",
         "elementwise", "fp32"),
    Case("void at::native::vectorized_elementwise_kernel<4, at::native::threshold_kernel_impl<float>"
         "(at::TensorIteratorBase&, float, float)::{lambda(float, float)#1}, at::detail::Array<char*, "
         "3> >(int)", "ATen", "activation", "fp32"),
    Case("void at::native::vectorized_elementwise_kernel<4, at::native::GeluCUDAKernelImpl(at::Tensor"
         "IteratorBase&, at::native::GeluType)::{lambda()#2}::operator()() const::{lambda()#4}::"
         "operator()() const::{lambda(c10::BFloat16)#1}, std::array<char*, 2ul> >(int)", "ATen",
         "activation", "bf16"),
    Case("void at::native::vectorized_elementwise_kernel<4, at::native::(anonymous namespace)::"
         "silu_kernel(at::TensorIteratorBase&)::{lambda()#1}::operator()() const::{lambda()#5}::"
         "operator()() const::{lambda(c10::Half)#1}, std::array<char*, 2ul> >(int)", "ATen",
         "activation", "fp16"),
    Case("void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, at::detail"
         "::Array<char*, 1> >(int)", "ATen", "fill", "fp32"),
    Case("void (anonymous namespace)::elementwise_kernel_with_index<int, at::native::arange_cuda_out("
         "c10::Scalar const&)::{lambda()#1}::operator()() const::{lambda(long)#1}>(int)", "ATen",
         "fill"),
    Case("void at::native::vectorized_elementwise_kernel<4, " + _COPY + ", std::array<char*, 2ul> >"
         "(int)", "ATen", "copy", "fp32"),
    Case(_MANGLED_COPY, "ATen", "copy", "bf16"),
    # A casting copy names the type it writes: the type it reads is not in the name.
    Case("void at::native::unrolled_elementwise_kernel<" + _COPY + ", std::array<char*, 2ul>, 4, "
         "TrivialOffsetCalculator<1, unsigned int>, TrivialOffsetCalculator<1, unsigned int>, "
         "at::native::memory::LoadWithCast<1>, at::native::memory::StoreWithCast<1> >(int)", "ATen",
         "copy"),
    Case("void at::native::vectorized_elementwise_kernel<4, at::native::bfloat16_copy_kernel_cuda(at::"
         "TensorIteratorBase&)::{lambda(float)#1}, std::array<char*, 2ul> >(int)", "ATen", "copy",
         "fp32"),
    Case("void at::native::vectorized_elementwise_kernel<4, at::native::mse_kernel_cuda(at::Tensor"
         "IteratorBase&)::{lambda()#1}::operator()() const::{lambda()#2}::operator()() const::"
         "{lambda(float, float)#1}, at::detail::Array<char*, 3> >(int)", "ATen", "loss", "fp32"),
    Case("void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::func_wrapper_"
         "t<float, at::native::sum_functor<float, float, float>::operator()(at::TensorIterator&)::"
         "{lambda(float, float)#1}>, unsigned int, float, 4> >(int)", "ATen", "reduce", "fp32"),
    Case("void at::native::reduce_kernel<512, 1, at::native::ReduceOp<c10::BFloat16, at::native::"
         "MeanOps<c10::BFloat16, float, float, c10::BFloat16>, unsigned int, c10::BFloat16, 4, 4> >"
         "(int)", "ATen", "reduce", "bf16"),
    Case("void (anonymous namespace)::softmax_warp_forward<float, float, float, 10, true, false>"
         "(float*, float const*, int, int, int)", "ATen", "softmax", "fp32"),
    Case("void <unnamed>::softmax_warp_forward<float, float, float, (int)6, (bool)0, (bool)0>(T2 *)",
         "ATen", "softmax", "fp32"),
    Case("void at::native::(anonymous namespace)::cunn_SoftMaxForward<4, float, float, float, "
         "at::native::(anonymous namespace)::LogSoftMaxForwardEpilogue>(float*, float const*, int)",
         "ATen", "softmax", "fp32"),
    Case("void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<c10::BFloat16, float>"
         "(int, float)", "ATen", "norm", "bf16"),
    Case("void at::native::(anonymous namespace)::GammaBetaBackwardCUDAKernel<float, float>(long)",
         "ATen", "norm_backward", "fp32"),
    Case("void at::native::(anonymous namespace)::layer_norm_grad_input_kernel<c10::Half, float>(int)",
         "ATen", "norm_backward", "fp16"),
    Case("void at::native::batch_norm_collect_statistics_kernel<at::native::Var, c10::BFloat16, "
         "c10::BFloat16, float, int>(int)", "ATen", "norm", "bf16"),
    Case("void at::native::batch_norm_backward_kernel<c10::BFloat16, c10::BFloat16, float, int>(int)",
         "ATen", "norm_backward", "bf16"),
    Case("void at::native::(anonymous namespace)::max_pool_backward_nchw<float, float>(float const*)",
         "ATen", "pooling_backward", "fp32"),
    Case("void at::native::(anonymous namespace)::adaptivemaxgradinput<float, long>(float*)", "ATen",
         "pooling_backward", "fp32"),
    Case("void (anonymous namespace)::softmax_warp_backward<float, float, float, 9, true, false>(int)",
         "ATen", "softmax_backward", "fp32"),
    Case("void at::native::(anonymous namespace)::cunn_SoftMaxBackwardSmem<8, float, float, float, int>"
         "(int)", "ATen", "softmax_backward", "fp32"),
    Case("void scaled_masked_softmax_warp_backward<c10::Half, c10::Half, float, 9>(int)", "Apex",
         "softmax_backward", "fp16"),
    Case("void multi_tensor_apply_kernel<TensorListMetadata<4>, transformer_engine::multi_tensor_l2norm"
         "::L2NormFunctor<float>, float*>(int)", "Transformer Engine", "reduce", "fp32"),
    Case("void at::native::_scatter_gather_elementwise_kernel<128, 4, at::native::_cuda_scatter_fill_"
         "internal_kernel<float>::operator()<at::native::TensorAssign>(int)>(int)", "ATen", "scatter"),
    Case("void at::native::(anonymous namespace)::adaptive_average_pool<float>(float const*, float*)",
         "ATen", "pooling", "fp32"),
    Case("void at::native::(anonymous namespace)::upsample_bilinear2d_out_frame<float, float>(int)",
         "ATen", "upsample", "fp32"),
    Case("void at::native::(anonymous namespace)::indexSelectLargeIndex<c10::BFloat16, long, "
         "unsigned int, 2, 2, -2, true>(int)", "ATen", "index", "bf16"),
    Case("void at::native::vectorized_gather_kernel<16, long>(char*, char*, long*, int, long)",
         "ATen", "index"),
    Case("void at::native::index_elementwise_kernel<128, 4, at::native::gpu_index_kernel<at::native::"
         "index_kernel_impl<at::native::OpaqueType<4> >(at::TensorIteratorBase&, c10::ArrayRef<long>)"
         "::{lambda(char*, char const*, long)#1}>(int)", "ATen", "index"),
    Case("void at::native::index_elementwise_kernel<128, 4, at::native::gpu_index_kernel<at::native::"
         "index_put_kernel_impl<at::native::OpaqueType<2> >(at::TensorIterator&)>(int)", "ATen",
         "scatter"),
    Case("void (anonymous namespace)::indexing_backward_kernel<float, 4>(long*, long*, float*)",
         "ATen", "scatter"),
    Case("void at::native::_scatter_gather_elementwise_kernel<128, 8, at::native::_cuda_scatter_gather"
         "_internal_kernel<false, at::native::OpaqueType<8> >::operator()<at::native::TensorAssign>"
         "(int)>(int)", "ATen", "index"),
    Case("void at::native::_scatter_gather_elementwise_kernel<128, 8, at::native::_cuda_scatter_gather"
         "_internal_kernel<true, float>::operator()<at::native::ReduceAdd>(int)>(int)", "ATen",
         "scatter"),
    Case("void at::native::(anonymous namespace)::compute_grad_weight<float, long>(long const*)",
         "ATen", "embedding_backward"),
    Case("void at::native::(anonymous namespace)::embedding_backward_feature_kernel<float, float, long>"
         "(long const*)", "ATen", "embedding_backward"),
    Case("void at::native::(anonymous namespace)::EmbeddingBag_updateOutputKernel_sum_mean<float, long>"
         "(long const*)", "ATen", "embedding"),
    Case("void at::native::(anonymous namespace)::CatArrayBatchedCopy<float, unsigned int, 2, 128, 1>"
         "(float*)", "ATen", "cat", "fp32"),
    Case("void at::native::(anonymous namespace)::CatArrayBatchedCopy_aligned16_contig<at::native::"
         "(anonymous namespace)::OpaqueType<2u>, unsigned int, 1, 128, 1>(int)", "ATen", "cat"),
    Case("void at::native::sbtopk::gatherTopK<float, unsigned int, 2, false>(int)", "ATen", "topk"),
    Case("void at::native::mbtopk::radixFindKthValues<float, unsigned int, unsigned int, 2>(int)",
         "ATen", "topk"),
    Case("void at::native::bitonicSortKVInPlace<2, -1, 16, 16, float, long, at::native::GTOp<float, "
         "true>, unsigned int>(int)", "ATen", "sort"),
    Case("void at::native::tensor_kernel_scan_innermost_dim<float, std::plus<float> >(float*)",
         "ATen", "scan", "fp32"),
    Case("void at::native::(anonymous namespace)::distribution_elementwise_grid_stride_kernel<float, "
         "4, at::native::templates::cuda::normal_and_transform<float> >(int)", "ATen", "random"),
    Case("void at::native::(anonymous namespace)::fused_dropout_kernel_vec<float, float, unsigned int, "
         "1, 4, bool>(int)", "ATen", "dropout", "fp32"),
    Case("void at::native::(anonymous namespace)::nll_loss_forward_reduce_cuda_kernel_2d<float, float, "
         "long>(float*)", "ATen", "loss", "fp32"),
    Case("void cunn_ClassNLLCriterion_updateOutput_kernel<float, float>(float*)", "ATen", "loss",
         "fp32"),
    Case("void at::native::(anonymous namespace)::conv_depthwise2d_forward_kernel<3, float, int>(int)",
         "ATen", "conv", "fp32"),
    Case("at::cuda::(anonymous namespace)::spin_kernel(long)", "ATen", "spin"),
    # Multi-tensor kernels.
    Case("void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous "
         "namespace)::TensorListMetadata<2>, at::native::(anonymous namespace)::BinaryOpListAlphaFunctor"
         "<float, 2, 2, 0>, std::plus<float>, float>(int)", "ATen", "elementwise", "fp32"),
    Case("void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous "
         "namespace)::FusedOptimizerTensorListMetadata<4>, at::native::(anonymous namespace)::FusedAdam"
         "MathFunctor<float, 4>, float const*, double>(int)", "ATen", "optimizer", "fp32"),
    Case("void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous "
         "namespace)::TensorListMetadata<1>, at::native::(anonymous namespace)::LpNormFunctor<float, "
         "2, 1, 1, 0> >(int)", "ATen", "reduce", "fp32"),
    Case("void multi_tensor_apply_kernel<TensorListMetadata<4>, AdamFunctor<float>, float, float>(int)",
         "Apex", "optimizer", "fp32"),
    Case("void multi_tensor_apply_kernel<TensorListMetadata<2>, ScaleFunctor<c10::Half, float>, float>"
         "(long)", "Apex", "elementwise", "fp16"),
    Case("void multi_tensor_apply_kernel<TensorListMetadata<1>, L2NormFunctor<float>, float*, float*>"
         "(long)", "Apex", "reduce", "fp32"),
    Case("void scaled_upper_triang_masked_softmax_warp_forward<c10::Half, c10::Half, float, 9>(int)",
         "Apex", "softmax", "fp16"),
    Case("void cuApplyLayerNorm<float, float, c10::BFloat16>(float*)", "Apex", "norm", "fp32"),
    # CUB and Thrust.
    Case("void cub::DeviceRadixSortOnesweepKernel<cub::DeviceRadixSortPolicy<long, int, int>::Policy800"
         ", false, long, int, int, int>(int*)", "CUB", "sort", "int64"),
    Case("void at_cuda_detail::cub::DeviceScanKernel<at_cuda_detail::cub::AgentScanPolicy<128, 15>, "
         "int*>(int)", "CUB", "scan"),
    Case("void cub::CUB_200700_800_NS::DeviceReduceSingleTileKernel<int>(int)", "CUB", "reduce"),
    Case("void at::cuda::cub::detail::DeviceSegmentedRadixSortKernel<int>(int)", "CUB", "sort",
         "int32"),
    Case("void cub::DeviceSelectSweepKernel<cub::DispatchSelectIf<int>::Policy>(int)", "CUB", "index"),
    Case("void thrust::cuda_cub::core::_kernel_agent<thrust::cuda_cub::__parallel_for::ParallelForAgent"
         "<thrust::cuda_cub::__uninitialized_fill::functor<int*, int>, unsigned long>, int>(int)",
         "Thrust", "fill"),
    Case("void thrust::THRUST_200302_800_NS::cuda_cub::core::_kernel_agent<thrust::THRUST_200302_800_NS"
         "::cuda_cub::__merge_sort::MergeAgent<int*> >(int)", "Thrust", "sort"),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name[:90])
def test_name_is_read(case: Case) -> None:
    check(case)
