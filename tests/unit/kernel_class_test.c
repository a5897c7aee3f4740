/* SPDX-License-Identifier: MIT */
/* What kernels of the usual libraries do, by their names as profilers show them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/base/kernel_class.h"
#include "model/base/names.h"
#include "tests/unit/test.h"

#define OTHER KERNEL_OTHER
#define MATMUL KERNEL_MATMUL
#define CONV KERNEL_CONV
#define ATTENTION KERNEL_ATTENTION
#define NORM KERNEL_NORM
#define ELEMENTWISE KERNEL_ELEMENTWISE
#define REDUCE KERNEL_REDUCE
#define SORT KERNEL_SORT
#define COPY KERNEL_COPY
#define COMM KERNEL_COMM
#define F64 NUMBER_F64
#define F32 NUMBER_F32
#define TF32 NUMBER_TF32
#define BF16 NUMBER_BF16
#define F16 NUMBER_F16
#define FP8 NUMBER_FP8
#define INT8 NUMBER_INT8
#define YES TENSOR_USED
#define NO TENSOR_UNUSED

#define AT "at::native::"
#define EW "void at::native::vectorized_elementwise_kernel<4, "
#define TENSORS ", std::array<char*, 2ul> >(int, "

static const struct sample {
	const char *name;
	int kind, type, tensor;
} samples[] = {
	/* cuBLAS */
	{ "ampere_sgemm_128x64_nn", MATMUL, F32, NO },
	{ "ampere_sgemm_32x32_sliced1x4_tn", MATMUL, F32, NO },
	{ "volta_sgemm_64x64_tn", MATMUL, F32, NO },
	{ "maxwell_sgemm_128x128_nt", MATMUL, F32, NO },
	{ "volta_dgemm_64x64_nn", MATMUL, F64, NO },
	{ "ampere_fp16_s16816gemm_fp16_128x64_ldg8_f2f_stages_64x4_tn", MATMUL, F16, YES },
	{ "ampere_fp16_s1688gemm_fp16_64x128_sliced1x2_ldg8_f2f_nn", MATMUL, F16, YES },
	{ "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_nn", MATMUL, BF16, YES },
	{ "ampere_bf16_s1688gemm_bf16_128x128_ldg8_f2f_stages_32x1_nn", MATMUL, BF16, YES },
	{ "ampere_h16816gemm_256x128_ldg8_stages_32x3_tn", MATMUL, F16, YES },
	{ "volta_h884gemm_128x64_ldg8_tn", MATMUL, F16, YES },
	{ "volta_fp16_s884gemm_fp16_128x64_ldg8_f2f_nn", MATMUL, F16, YES },
	{ "turing_h1688gemm_128x128_ldg8_nn", MATMUL, F16, YES },
	{ "turing_fp16_s1688gemm_fp16_256x128_ldg8_f2f_tn", MATMUL, F16, YES },
	{ "volta_fp16_sgemm_fp16_128x32_sliced1x4_nn", MATMUL, F16, NO },
	{ "ampere_int32_i16832gemm_int8_128x128_ldg16_stages_64x3_tn", MATMUL, INT8, YES },
	{ "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize128x128x8_stage3_warpsize2x4x1_ffma_"
	  "aligna4_alignc4_execute_kernel__5x_cublas",
	  MATMUL, F32, NO },
	{ "sm80_xmma_gemm_f32f32_tf32f32_f32_nn_n_tilesize64x64x64_stage3_warpsize2x2x1_"
	  "tensor16x8x8_execute_kernel__5x_cublas",
	  MATMUL, TF32, YES },
	{ "sm80_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize96x64x64_stage3_warpsize2x2x1_"
	  "tensor16x8x16_execute_kernel__5x_cublas",
	  MATMUL, BF16, YES },
	{ "sm80_xmma_gemm_f64f64_f64f64_f64_nn_n_tilesize64x64x16_stage4_warpsize2x2x1_"
	  "tensor8x8x4_execute_kernel__5x_cublas",
	  MATMUL, F64, YES },
	{ "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_"
	  "execute_segment_k_off_kernel__5x_cublas",
	  MATMUL, BF16, YES },
	{ "sm90_xmma_gemm_f16f16_f16f32_f32_nn_n_tilesize64x128x64_warpgroupsize1x1x1_"
	  "bias_f16_relu_execute_segment_k_off_kernel__5x_cublas",
	  MATMUL, F16, YES },
	{ "sm90_xmma_gemm_e4m3bf16_e4m3f32_f32_tn_n_tilesize64x128x128_warpgroupsize1x1x1_"
	  "execute_segment_k_off_kernel__5x_cublas",
	  MATMUL, FP8, YES },
	{ "nvjet_hsh_128x64_64x5_2x1_v_bz_coopA_TNT", MATMUL, F16, YES },
	{ "nvjet_sm90_hsh_128x64_64x5_2x1_v_bz_coopA_TNT", MATMUL, F16, YES },
	{ "nvjet_sm90_tst_192x192_64x4_1x2_h_bz_coopB_NNT", MATMUL, BF16, YES },
	{ "nvjet_sm103_qqtst_128x128_128x4_1x2_h_bz_TNT", MATMUL, FP8, YES },
	{ "nvjet_sss_tf32_128x256_TNT", MATMUL, TF32, YES },
	{ "nvjet_sm90_sss_128x256_TNT", MATMUL, 0, 0 },
	{ "nvjet_xyz", MATMUL, 0, 0 },
	/* Tensile, in rocBLAS and hipBLASLt */
	{ "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT64x64x64_MI16x16x1", MATMUL, BF16, YES },
	{ "Cijk_Ailk_Bljk_HHS_BH_MT128x64x32_MI32x32x8x1_SE_K1", MATMUL, F16, YES },
	{ "Cijk_Ailk_Bljk_SB_MT64x64x16_SE_K1", MATMUL, F32, 0 },
	{ "Cijk_Ailk_Bjlk_S_MX_B_Bias_MT128x128x32_MI16x16x1", MATMUL, TF32, YES },
	{ "Cijk_Ailk_Bljk_DB_MT32x32x16_MI16x16x4x1_SN", MATMUL, F64, YES },
	{ "Cijk_Alik_Bljk_F8BS_BH_MT256x256x128_MI16x16x1", MATMUL, FP8, YES },
	{ "Cijk_Alik_Bljk_B8F8S_BH_MT64x64x64_MI1x1", MATMUL, FP8, 0 },
	{ "Cijk_Alik_Bljk_I8II_BH_MT64x64x64_MI16x16x1", MATMUL, INT8, YES },
	{ "Cijk_Alik_Bljk_4xi8II_BH_MT64x64x64", MATMUL, INT8, 0 },
	{ "Cijk_Ailk_Bljk_CB_MT32x32x8_SE_K1", MATMUL, 0, 0 },
	{ "Custom_Cijk_Ailk_Bljk_BBS_BH_Bias_UserArgs_MT128x128x64_MI16x16x1_shortname1", MATMUL,
	  BF16, YES },
	{ "nvjet_tst_192x192_64x4_1x2_h_bz_coopB_NNT", MATMUL, BF16, YES },
	{ "nvjet_qqtst_128x128_128x4_1x2_h_bz_TNT", MATMUL, FP8, YES },
	{ "nvjet_sm100_tst_128x256_64x6_2x1_2cta_v_bz_TNT", MATMUL, BF16, YES },
	{ "void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_64x64_64x6_tn_"
	  "align8>(cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_64x64_64x6_tn_align8::Params)",
	  MATMUL, BF16, YES },
	{ "void cutlass::Kernel2<cutlass_80_wmma_tensorop_f16_s161616gemm_f16_32x32_128x2_tn_"
	  "align8>(cutlass_80_wmma_tensorop_f16_s161616gemm_f16_32x32_128x2_tn_align8::Params)",
	  MATMUL, F16, YES },
	{ "void cutlass::Kernel2<cutlass_80_tensorop_s1688gemm_256x128_16x3_nt_align4>"
	  "(cutlass_80_tensorop_s1688gemm_256x128_16x3_nt_align4::Params)",
	  MATMUL, TF32, YES },
	{ "void cutlass::Kernel2<cutlass_80_tensorop_d884gemm_64x64_16x4_nn_align1>"
	  "(cutlass_80_tensorop_d884gemm_64x64_16x4_nn_align1::Params)",
	  MATMUL, F64, YES },
	{ "void cutlass::Kernel2<cutlass_80_simt_sgemm_128x64_8x5_nn_align1>"
	  "(cutlass_80_simt_sgemm_128x64_8x5_nn_align1::Params)",
	  MATMUL, F32, NO },
	{ "void cutlass::Kernel2<cutlass_80_tensorop_s8_i16832gemm_s8_256x128_64x3_tn_align16>"
	  "(cutlass_80_tensorop_s8_i16832gemm_s8_256x128_64x3_tn_align16::Params)",
	  MATMUL, INT8, YES },
	{ "void cutlass::device_kernel<at::cuda::detail::enable_3x_kernel_for_sm9x<cutlass::gemm::"
	  "kernel::GemmUniversal<cute::tuple<int, int, int, int>, cutlass::gemm::collective::"
	  "CollectiveMma<cutlass::float_e4m3_t, "
	  "cute::MMA_Atom<cute::SM90_64x128x32_F32E4M3E4M3_SS_TN"
	  "<> > > > > >(cutlass::Params)",
	  MATMUL, FP8, YES },
	{ "void gemv2T_kernel_val<int, int, float, float, float, float, 128, 16, 4, 4, false, "
	  "true, "
	  "cublasGemvParamsEx<int, cublasGemvTensorStridedBatched<float const>, float> "
	  ">(cublasGemv)",
	  MATMUL, F32, NO },
	{ "void gemvNSP_kernel<__half, __half, __half, float, 1, 32, 4, 1024, "
	  "cublasGemvParamsEx<int> >"
	  "(cublasGemvParamsEx<int>)",
	  MATMUL, F16, NO },
	{ "void gemmSN_TN_kernel<float, 128, 16, 2, 4, 4, 4, true, cublasGemvTensorStridedBatched<"
	  "float const> >(cublasGemmSmallNParams<float>)",
	  MATMUL, F32, NO },
	{ "void gemmk1_kernel<int, float, 256, 5, false, false, false, false>(cublasGemmk1Params)",
	  MATMUL, F32, NO },
	{ "void cublasLt::splitKreduce_kernel<32, 16, int, __half, __half, float, false, __half>"
	  "(cublasLt::cublasSplitKParams<float>, __half const*)",
	  MATMUL, F16, 0 },
	{ "void magma_sgemmEx_kernel<float, float, float, false, false, 6, 3, 5, 3, 3>(int, int, "
	  "int)",
	  MATMUL, F32, NO },
	{ "void dot_kernel<float, 128, 0, cublasDotParams<cublasGemvTensor<float const>, float> >"
	  "(cublasDotParams<float>)",
	  REDUCE, F32, 0 },
	{ "void reduce_1Block_kernel<double, 128, 7, cublasGemvTensorStridedBatched<double>, "
	  "double>"
	  "(double const*, double)",
	  REDUCE, F64, 0 },
	{ "void axpy_kernel_val<float, float, 0>(cublasAxpyParamsVal<float>)", ELEMENTWISE, F32,
	  0 },
	{ "void deep_gemm::sm90_fp8_gemm_1d2d_impl<7168u, 2048u, 128u>(float*)", MATMUL, FP8, YES },
	{ "void marlin::Marlin<__half, 256, 1, 8, 8, 4, 8>(int4 const*, int4 const*)", MATMUL, F16,
	  YES },

	/* cuDNN */
	{ "volta_scudnn_128x64_relu_interior_nn_v1", CONV, F32, NO },
	{ "ampere_scudnn_128x64_relu_small_nn_v1", CONV, F32, NO },
	{ "ampere_scudnn_winograd_128x128_ldg1_ldg4_relu_tile148t_nt_v1", CONV, F32, NO },
	{ "volta_fp16_s884cudnn_fp16_256x64_ldg8_relu_f2f_exp_small_nhwc2nchw_tn_v1", CONV, F16,
	  YES },
	{ "turing_fp16_s1688cudnn_fp16_128x128_ldg8_relu_f2f_exp_small_nhwc_tn_v1", CONV, F16,
	  YES },
	{ "ampere_h16816cudnn_256x128_ldg8_relu_exp_stages_32x3_medium_nhwc_tn_v1", CONV, F16,
	  YES },
	{ "sm80_xmma_fprop_implicit_gemm_tf32f32_tf32f32_f32_nhwckrsc_nchw_tilesize128x128x16_"
	  "stage4_"
	  "warpsize2x2x1_g1_tensor16x8x8_execute_kernel__5x_cudnn",
	  CONV, TF32, YES },
	{ "sm80_xmma_dgrad_implicit_gemm_indexed_f16f16_f16f32_f32_nhwckrsc_nhwc_"
	  "tilesize128x128x32_"
	  "stage4_warpsize2x2x1_g1_tensor16x8x16_kernel_cudnn",
	  CONV, F16, YES },
	{ "sm80_xmma_wgrad_implicit_gemm_indexed_bf16bf16_bf16f32_f32_nhwckrsc_nhwc_"
	  "tilesize128x64x64_"
	  "stage3_warpsize2x2x1_g1_tensor16x8x16_execute_kernel__5x_cudnn",
	  CONV, BF16, YES },
	{ "void "
	  "cutlass__5x_cudnn::Kernel<cutlass_tensorop_s1688fprop_optimized_tf32_128x64_16x6_nhwc_"
	  "align4>(cutlass_tensorop_s1688fprop_optimized_tf32_128x64_16x6_nhwc_align4::Params)",
	  CONV, TF32, YES },
	{ "void "
	  "cutlass__5x_cudnn::Kernel<cutlass_tensorop_f16_s16816dgrad_optimized_f16_128x128_32x5_"
	  "nhwc_unity_stride_align8>(cutlass_tensorop_f16_s16816dgrad::Params)",
	  CONV, F16, YES },
	{ "void implicit_convolve_sgemm<float, float, 128, 6, 7, 3, 3, 5, 1, false, false, "
	  "true>(int)",
	  CONV, F32, NO },
	{ "void precomputed_convolve_sgemm<float, 1024, 5, 5, 4, 3, 3, 1, false>(int, int)", CONV,
	  F32, NO },
	{ "void cudnn::winograd_nonfused::winogradForwardData4x4<float, float>(cudnn::Params)",
	  CONV, F32, 0 },
	{ "void cudnn::detail::dgrad_engine<float, 512, 6, 5, 3, 3, 3, false>(int, int, int)", CONV,
	  F32, 0 },
	{ "void cudnn::cnn::wgrad_alg0_engine<float, 128, 5, 5, 3, 3, 3, true, 512>(int, int)",
	  CONV, F32, 0 },
	{ "void cudnn::cnn::conv2d_grouped_direct_kernel<false, true, false, false, 0, 0, int, "
	  "__half, "
	  "__half, __half, float>(cudnnTensorStruct)",
	  CONV, F16, 0 },
	{ "void fft2d_r2c_32x32<float, false, 0u, false>(float2*, float const*, int)", CONV, F32,
	  0 },
	{ "void cudnn::ops::nchwToNhwcKernel<__half, __half, float, false, true, "
	  "(cudnnKernelDataType_t)0>"
	  "(cudnn::ops::nchw2nhwc_params_t<float>, __half const*, __half*)",
	  COPY, F16, 0 },
	{ "void cudnn::ops::nhwcToNchwKernel<float, float, float, true, false>(float const*)", COPY,
	  F32, 0 },
	{ "void cudnn::cnn::im2col4d_kernel<float, int>(float const*, int)", COPY, F32, 0 },
	{ "void cudnn::bn_fw_tr_1C11_kernel_NCHW<float, float, 512, true, 1>(cudnnTensorStruct)",
	  NORM, F32, 0 },
	{ "void cudnn::bn_bw_1C11_kernel_new<__half, float, float2, 512, true, 1>(float)", NORM,
	  F16, 0 },
	{ "void cudnn::batchnorm_fwtr_nhwc_semiPersist<__half, __half, 12, true, true, 512, "
	  "2>(int)",
	  NORM, F16, 0 },
	{ "void cudnn::ops::pooling_fw_4d_kernel<float, float, cudnn::maxpooling_func<float>, 0, "
	  "false>"
	  "(cudnnTensorStruct)",
	  REDUCE, F32, 0 },
	{ "void op_generic_tensor_kernel<2, float, float, float, 256, 1, 1, 1>(cudnnTensorStruct)",
	  ELEMENTWISE, F32, 0 },
	{ "void cudnn::ops::scalePackedTensor_kernel<float, float>(long, float*, float)",
	  ELEMENTWISE, F32, 0 },
	{ "cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_7_64x128x128_4x1x1_"
	  "kernel0_0",
	  ATTENTION, 0, YES },
	{ "void cudnn::fusion::compute_dot_do_o_specialized<true, 128, 128>(cudnn::Params)",
	  ATTENTION, 0, 0 },

	/* attention */
	{ "void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128, 128, 4, false, "
	  "false, "
	  "cutlass::bfloat16_t, Flash_kernel_traits<64, 128, 128, 4, cutlass::bfloat16_t> >, "
	  "false, "
	  "true>(pytorch_flash::Flash_fwd_params)",
	  ATTENTION, BF16, YES },
	{ "void "
	  "pytorch_flash::flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<Flash_bwd_kernel_traits<64, "
	  "128, 128, 8, 4, 4, 4, false, false, cutlass::half_t> >(pytorch_flash::Flash_bwd_params)",
	  ATTENTION, F16, YES },
	{ "void pytorch_flash::flash_bwd_dot_do_o_kernel<true, Flash_bwd_kernel_traits<64, 128, "
	  "128, 8, "
	  "4, 4, 4, false, false, cutlass::half_t> >(pytorch_flash::Flash_bwd_params)",
	  ATTENTION, F16, 0 },
	{ "void flash_fwd_splitkv_kernel<Flash_fwd_kernel_traits<128, 64, 128, 4, cutlass::half_t> "
	  ">"
	  "(Flash_fwd_params)",
	  ATTENTION, F16, YES },
	{ "void cutlass::device_kernel<flash::enable_sm90_or_later<flash::FlashAttnFwdSm90<flash::"
	  "CollectiveMainloopFwdSm90<2, cutlass::bfloat16_t, float> > > >(flash::Params)",
	  ATTENTION, BF16, YES },
	{ "fmha_cutlassF_bf16_aligned_64x64_rf_sm80(PyTorchMemEffAttention::AttentionKernel<"
	  "cutlass::"
	  "bfloat16_t, cutlass::arch::Sm80, true, 64, 64, 64, true, true>::Params)",
	  ATTENTION, BF16, YES },
	{ "fmha_cutlassB_f16_aligned_64x64_k64_sm80(PyTorchMemEffAttention::"
	  "AttentionBackwardKernel<"
	  "cutlass::half_t>::Params)",
	  ATTENTION, F16, YES },
	{ "void vllm::paged_attention_v1_kernel<unsigned short, unsigned short, 128, 16, "
	  "128>(unsigned)",
	  ATTENTION, 0, 0 },
	{ "void flashinfer::BatchDecodeWithPagedKVCacheKernel<(flashinfer::PosEncodingMode)0, 2u, "
	  "4u>"
	  "(flashinfer::Params)",
	  ATTENTION, 0, 0 },
	{ "_attn_fwd", ATTENTION, 0, 0 },
	{ "kernel_unified_attention_2d", ATTENTION, 0, 0 },

	/* PyTorch */
	{ EW AT "CUDAFunctor_add<float>" TENSORS AT "CUDAFunctor_add<float>)", ELEMENTWISE, F32,
	  0 },
	{ EW AT "CUDAFunctor_add<c10::BFloat16>" TENSORS "int)", ELEMENTWISE, BF16, 0 },
	{ EW AT "BinaryFunctor<float, float, float, at::native::binary_internal::MulFunctor<float> "
		">" TENSORS "int)",
	  ELEMENTWISE, F32, 0 },
	{ EW AT "(anonymous namespace)::launch_clamp_scalar(at::TensorIteratorBase&, c10::Scalar, "
		"c10::Scalar, at::native::detail::ClampLimits)::{lambda()#1}::operator()() "
		"const::{lambda("
		"float)#1}" TENSORS "int)",
	  ELEMENTWISE, F32, 0 },
	{ EW AT "GeluCUDAKernelImpl(at::TensorIteratorBase&, at::native::GeluType)::{lambda()#2}::"
		"operator()() const::{lambda(c10::Half)#1}" TENSORS "int)",
	  ELEMENTWISE, F16, 0 },
	{ EW AT "FillFunctor<float>, std::array<char*, 1ul> >(int, at::native::FillFunctor<float>)",
	  COPY, F32, 0 },
	{ EW AT "bfloat16_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda(float)#1}" TENSORS
		"int)",
	  COPY, BF16, 0 },
	{ "void at::native::elementwise_kernel<128, 2, "
	  "at::native::gpu_kernel_impl_nocast<at::native::"
	  "direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#3}::operator()() "
	  "const::{lambda"
	  "(float)#1}>(at::TensorIteratorBase&)::{lambda(int)#1}>(int)",
	  COPY, F32, 0 },
	{ "void at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda(at::"
	  "TensorIteratorBase&)::{lambda()#3}, std::array<char*, 2ul>, 4>(int)",
	  COPY, 0, 0 },
	{ "void at::native::index_elementwise_kernel<128, 4, "
	  "at::native::gpu_index_kernel<at::native::"
	  "index_kernel_impl<at::native::OpaqueType<4> > > >(long)",
	  COPY, 0, 0 },
	{ "void (anonymous namespace)::elementwise_kernel_with_index<int, "
	  "at::native::arange_cuda_out("
	  "c10::Scalar const&, at::Tensor&)::{lambda(long)#1}>(int)",
	  ELEMENTWISE, 0, 0 },
	{ "void at::native::(anonymous "
	  "namespace)::distribution_elementwise_grid_stride_kernel<float, 4, "
	  "at::native::templates::cuda::normal_and_transform<float, float> >(long)",
	  ELEMENTWISE, F32, 0 },
	{ "void at::native::(anonymous "
	  "namespace)::multi_tensor_apply_kernel<at::native::(anonymous "
	  "namespace)::FusedOptimizerTensorListMetadata<4>, at::native::(anonymous namespace)::"
	  "FusedAdamMathFunctor<float, 4, (at::native::ADAM_MODE)0, false> >(int)",
	  ELEMENTWISE, F32, 0 },
	{ "void at::native::(anonymous "
	  "namespace)::multi_tensor_apply_kernel<at::native::(anonymous "
	  "namespace)::TensorListMetadata<1>, at::native::(anonymous "
	  "namespace)::LpNormFunctor<float, "
	  "(at::native::NormType)1, float, 1, 1, 0> >(int)",
	  REDUCE, F32, 0 },
	{ "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, "
	  "at::native::func_wrapper_t<"
	  "float, at::native::sum_functor<float, float, float> >, unsigned int, float, 4, 4> "
	  ">(int)",
	  REDUCE, F32, 0 },
	{ "void at::native::reduce_kernel<128, 4, at::native::ReduceOp<c10::BFloat16, "
	  "at::native::MeanOps<"
	  "c10::BFloat16, float, float, c10::BFloat16>, unsigned int> >(int)",
	  REDUCE, BF16, 0 },
	{ "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float, float, "
	  "false>(int, "
	  "float, float const*)",
	  NORM, F32, 0 },
	{ "void at::native::(anonymous "
	  "namespace)::GammaBetaBackwardCUDAKernel_32x32<c10::BFloat16, float>"
	  "(long, long)",
	  NORM, BF16, 0 },
	{ "void at::native::batch_norm_collect_statistics_kernel<at::native::InvStd, float, float, "
	  "float, "
	  "int>(at::GenericPackedTensorAccessor<float const, 3ul>)",
	  NORM, F32, 0 },
	{ "void (anonymous namespace)::softmax_warp_forward<float, float, float, 7, true, "
	  "false>(float*)",
	  NORM, F32, 0 },
	{ "void at::native::(anonymous namespace)::cunn_SoftMaxForwardSmem<8, c10::BFloat16, "
	  "float, "
	  "c10::BFloat16, at::native::(anonymous namespace)::SoftMaxForwardEpilogue, long>(int)",
	  NORM, BF16, 0 },
	{ "void at::native::(anonymous namespace)::nll_loss_forward_reduce_cuda_kernel_2d<float, "
	  "float, "
	  "long>(float*)",
	  REDUCE, F32, 0 },
	{ "void at::native::(anonymous namespace)::max_pool_forward_nchw<float, int>(int, float "
	  "const*)",
	  REDUCE, F32, 0 },
	{ "void at::native::(anonymous "
	  "namespace)::CatArrayBatchedCopy_aligned16_contig<at::native::"
	  "(anonymous namespace)::OpaqueType<2u>, unsigned int, 2, 128, 1>(char*)",
	  COPY, 0, 0 },
	{ "void at::native::(anonymous namespace)::indexSelectLargeIndex<float, long, unsigned "
	  "int, 2, 2, "
	  "-2, true>(int)",
	  COPY, F32, 0 },
	{ "void at::native::(anonymous namespace)::embedding_backward_feature_kernel<float, float, "
	  "long>"
	  "(long const*)",
	  COPY, F32, 0 },
	{ "void at::native::vectorized_gather_kernel<16, long>(char*, char*, long*, int)", COPY, 0,
	  0 },
	{ "void at::native::sbtopk::gatherTopK<float, unsigned int, 2, false>(int)", SORT, F32, 0 },
	{ "void at::native::radixSortKVInPlace<-2, -1, 32, 4, long, long, unsigned int>(int)", SORT,
	  0, 0 },
	{ "void at_cuda_detail::cub::DeviceRadixSortOnesweepKernel<at_cuda_detail::cub::"
	  "DeviceRadixSortPolicy<long, long, unsigned long long>::Policy900, false, long>(int)",
	  SORT, 0, 0 },
	{ "void at_cuda_detail::cub::DeviceScanKernel<at_cuda_detail::cub::DeviceScanPolicy<int> "
	  ">(int)",
	  SORT, 0, 0 },
	{ "void "
	  "at_cuda_detail::cub::DeviceSelectSweepKernel<at_cuda_detail::cub::DispatchSelectIf<int> "
	  ">"
	  "(int)",
	  SORT, 0, 0 },
	{ "void at::native::tensor_kernel_scan_innermost_dim<float, std::plus<float> >(float*)",
	  SORT, F32, 0 },
	{ "void "
	  "cub::DeviceReduceSingleTileKernel<cub::DeviceReducePolicy<float>::Policy600>(float)",
	  REDUCE, F32, 0 },
	{ "void at::native::(anonymous namespace)::fused_dropout_kernel_vec<float, float, unsigned "
	  "int, 1, "
	  "4, bool>(int)",
	  ELEMENTWISE, F32, 0 },
	{ "void at::native::(anonymous namespace)::conv_depthwise2d_forward_kernel<3, float, "
	  "int>(int)",
	  CONV, F32, 0 },
	{ "void vllm::rms_norm_kernel<c10::BFloat16>(c10::BFloat16*)", NORM, BF16, 0 },
	{ "void vllm::act_and_mul_kernel<c10::BFloat16, &vllm::silu_kernel<c10::BFloat16> >(int)",
	  ELEMENTWISE, BF16, 0 },
	{ "void vllm::rotary_embedding_kernel<c10::BFloat16, true>(long const*)", ELEMENTWISE, BF16,
	  0 },
	{ "void vllm::reshape_and_cache_flash_kernel<__nv_bfloat16, __nv_bfloat16, 0>(int)", COPY,
	  BF16, 0 },
	{ "void vllm::cross_device_reduce_1stage<__nv_bfloat16, 8>(vllm::RankData*)", COMM, BF16,
	  0 },

	/* Triton, as torch.compile and XLA name its kernels; XLA's own; TensorFlow */
	{ "triton_poi_fused_add_relu_0", ELEMENTWISE, 0, 0 },
	{ "triton_poi_fused_convolution_3", ELEMENTWISE, 0, 0 }, /* its bias */
	{ "triton_red_fused_native_layer_norm_2", NORM, 0, 0 },
	{ "triton_per_fused__softmax_1", NORM, 0, 0 },
	{ "triton_per_fused_sum_5", REDUCE, 0, 0 },
	{ "triton_tem_fused_mm_4", MATMUL, 0, 0 },
	{ "triton_tem_fused_addmm_relu_7", MATMUL, 0, 0 },
	{ "triton_tem_fused_bmm_2", MATMUL, 0, 0 },
	{ "triton_spl_fused_cumsum_0", SORT, 0, 0 },
	{ "gemm_fusion_dot_12", MATMUL, 0, 0 },
	{ "input_reduce_fusion_2", REDUCE, 0, 0 },
	{ "loop_add_fusion_3", ELEMENTWISE, 0, 0 },
	{ "loop_convert_fusion", ELEMENTWISE, 0, 0 },
	{ "loop_select_fusion_1", ELEMENTWISE, 0, 0 },
	{ "input_transpose_fusion", COPY, 0, 0 },
	{ "input_concatenate_fusion", COPY, 0, 0 },
	{ "loop_fusion_9", ELEMENTWISE, 0, 0 },
	{ "wrapped_reduce", REDUCE, 0, 0 },
	{ "triton_softmax_computation_5", NORM, 0, 0 },
	{ "fusion_12", OTHER, 0, 0 },
	{ "void "
	  "Eigen::internal::EigenMetaKernel<Eigen::TensorEvaluator<Eigen::TensorAssignOp<Eigen::"
	  "TensorMap<Eigen::Tensor<float, 1, 1, int> >, "
	  "Eigen::TensorCwiseBinaryOp<Eigen::internal::"
	  "scalar_sum_op<float, float> > const> const, Eigen::GpuDevice>, int>(int)",
	  ELEMENTWISE, F32, 0 },
	{ "void tensorflow::functor::ColumnReduceKernel<float const*, float*, cub::Sum>(float "
	  "const*)",
	  REDUCE, F32, 0 },
	{ "void tensorflow::functor::SwapDimension1And2InTensor3UsingTiles<unsigned int, 1024, "
	  "1024, 2, "
	  "false>(unsigned)",
	  COPY, 0, 0 },
	{ "Relu_GPU_DT_HALF_DT_HALF_kernel", ELEMENTWISE, F16, 0 },
	{ "AddV2_GPU_DT_FLOAT_DT_FLOAT_kernel", ELEMENTWISE, F32, 0 },
	{ "void tensorflow::functor::BiasNHWCKernel<float>(int, float const*)", ELEMENTWISE, F32,
	  0 },
	{ "void tensorflow::functor::ApplyAdamKernel<float>(int, float*)", ELEMENTWISE, F32, 0 },
	{ "void tensorflow::DepthwiseConv2dGPUKernelNCHWSmall<float, 0, 3, 3, 2, true, float>(int)",
	  CONV, F32, 0 },

	/* NCCL */
	{ "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", COMM, F32,
	  0 },
	{ "ncclDevKernel_AllReduce_Sum_bf16_TREE_LL(ncclDevKernelArgsStorage<4096ul>)", COMM, BF16,
	  0 },
	{ "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)", COMM, 0, 0 },
	{ "ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", COMM,
	  BF16, 0 },
	{ "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", COMM, 0, 0 },
	{ "all-reduce.3", COMM, 0, 0 }, { "all-gather", COMM, 0, 0 },
	{ "collective-permute.1", COMM, 0, 0 }, { "wrapped_reduce-window", REDUCE, 0, 0 },
	{ "ncclDevKernel_Broadcast_RING_LL(ncclDevKernelArgsStorage<4096ul>)", COMM, 0, 0 },
	{ "ncclKernel_AllReduce_RING_LL_Sum_float(ncclDevComm*, unsigned long, ncclWork*)", COMM,
	  F32, 0 },

	/* oneDNN, OpenCL's libraries, a program's own */
	{ "brgemm_matmul", MATMUL, 0, 0 },
	{ "inner_product", MATMUL, 0, 0 },
	{ "convolution", CONV, 0, 0 },
	{ "batch_normalization", NORM, 0, 0 },
	{ "eltwise", ELEMENTWISE, 0, 0 },
	{ "reorder", COPY, 0, 0 },
	{ "pooling", REDUCE, 0, 0 },
	{ "XgemmDirectTN", MATMUL, 0, 0 },
	{ "Xgemm", MATMUL, 0, 0 },
	{ "XaxpyFast", ELEMENTWISE, 0, 0 },
	{ "conv_forward", CONV, 0, 0 },
	{ "r_64_32", REDUCE, 0, 0 },
	{ "E_16_4n1", ELEMENTWISE, 0, 0 },
	{ "convert_element_type", ELEMENTWISE, 0, 0 },
	{ "vectorAdd", ELEMENTWISE, 0, 0 },
	{ "touch", OTHER, 0, 0 },
	{ "main_loop", OTHER, 0, 0 },
	{ "spin", OTHER, 0, 0 },
};

TEST(kernel_classes)
{
	size_t n = sizeof(samples) / sizeof(samples[0]);

	CHECK(n >= 120);
	for (size_t i = 0; i < n; i++) {
		const struct sample *s = &samples[i];
		struct kernel_class class = kernel_class_of(s->name);

		if (class.kind == s->kind && class.type == s->type && class.tensor == s->tensor)
			continue;
		test_fail(__FILE__, __LINE__, "'%s' is %s %s tensor %d, not %s %s %d", s->name,
			  kernel_kind_name((enum kernel_kind)class.kind),
			  kernel_type_name((enum kernel_type)class.type), class.tensor,
			  kernel_kind_name((enum kernel_kind)s->kind),
			  kernel_type_name((enum kernel_type)s->type), s->tensor);
	}
}

/* Any bytes, of any length, are some class; what is no product has no tensor cores. */
TEST(kernel_classes_of_anything)
{
	char text[3000];

	for (int round = 0; round < 3000; round++) {
		size_t n = test_below(sizeof(text));
		struct kernel_class class;

		for (size_t i = 0; i < n; i++)
			text[i] = (char)(1 + test_below(255));
		text[n] = '\0';
		class = kernel_class_of(text);
		CHECK(class.kind < KERNEL_KINDS && class.type < KERNEL_TYPES &&
		      class.tensor <= YES);
	}
	CHECK_INT(kernel_class_of(NULL).kind, OTHER);
	CHECK_INT(kernel_class_of("").kind, OTHER);
	CHECK_INT(kernel_class_of("ncclKernel_x16816").tensor, 0);
	CHECK_STR(kernel_kind_name((enum kernel_kind)99), "");
	CHECK_STR(kernel_type_name((enum kernel_type)99), "");
}
