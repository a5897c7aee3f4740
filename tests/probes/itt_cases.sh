itt_cases=
