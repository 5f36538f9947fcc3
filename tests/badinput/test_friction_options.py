"""Options of the solvers of friction problems: what names nothing ends with one message and exit code 2 on any number of
ranks; linear systems that fail are reported in the table, and the benchmark goes on."""
from refusal import refused
from scree_program import check, check_in, run_ok

SMALL = ("--case", "stack:3", "--compliance", "rigid")


def refused_bench(folder, *arguments, words, ranks=(2,)):
    refused(folder, "friction", *arguments, words=words, ranks=ranks, name="scree_bench")


def test_solvers_and_cases_that_do_not_exist(folder):
    refused_bench(folder, *SMALL, "--solvers", "nsgs,impp", words=["impp", "nsgs", "ipm", "admm"], ranks=(1, 2))
    refused_bench(folder, "--case", "stak:3", words=["stak", "stack", "pile"])
    refused_bench(folder, "--case", "stack", words=["stack", "stack:SIZE"])
    refused_bench(folder, "--case", "stack:0", words=["stack:0", "at least 1"])


def test_keys_of_solvers_that_do_not_exist(folder):
    refused_bench(folder, *SMALL, "--set", "nsgs.max_sweps=3", words=["max_sweps", "max_sweeps"], ranks=(1, 2))
    refused_bench(folder, *SMALL, "--set", "newton.linear=\"lu\"", words=["linear", "lu", "direct"])
    refused_bench(folder, *SMALL, "--set", "impp.max_steps=3", words=["impp"])


def test_values_out_of_range(folder):
    refused_bench(folder, *SMALL, "--set", "nsgs.max_sweeps=0", words=["max_sweeps", "> 0"])
    refused_bench(folder, *SMALL, "--set", "newton.penalty=nan", words=["penalty"])
    refused_bench(folder, "--compliance", "-1", words=["--compliance -1"])
    refused_bench(folder, "--compliance", "nan", words=["--compliance nan"])


def test_petsc_options_that_nothing_asks_for(folder):
    refused_bench(folder, *SMALL, "--solvers", "ipm", "--petsc", "-scree_kps_type cg", words=["-scree_kps_type"])
    refused_bench(folder, *SMALL, "--solvers", "nsgs", "--petsc", "-scree_ksp_type cg", words=["-scree_ksp_type"],
                  ranks=(1,))
    refused_bench(folder, *SMALL, "--petsc", "cg", words=["'cg'"])


def test_petsc_options_whose_values_name_nothing(folder):
    refused_bench(folder, *SMALL, "--solvers", "ipm", "--petsc", "-scree_ksp_type frob",
                  words=["PETSc options: ", "KSP type frob"])


def test_linear_systems_that_fail_are_reported(folder):
    for solver, options, words in (("ipm", "-scree_ksp_type cg -scree_ksp_max_it 1", "DIVERGED_ITS after 1 iterations"),
                                   ("newton", "-scree_mat_mumps_icntl_23 1", "too little memory")):
        result = run_ok("friction", "--case", "pile:150", "--compliance", "1e-2", "--solvers", solver, "--petsc", options,
                        ranks=2, name="scree_bench", folder=folder, timeout=60)
        said = " ".join(result.stdout.replace("|", " ").split())    # lines are wrapped
        check_in(words, said, f"what {solver} says")
        check("nan" not in result.stdout and "inf" not in result.stdout, "the best impulses are kept", result)
