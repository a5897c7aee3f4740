nvtx_cases=
