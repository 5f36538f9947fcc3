/* Reads an FCLIB file with fclib itself and writes what it found to a new file, so that a test can compare
   the two: fclib_copy FROM TO. Exit code 1 if fclib cannot read or write. In a program of its own, since
   fclib ends the process, or worse, when a file is not as it expects. */
#include <fclib.h>
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>

static int has_group(const char* path, const char* group) {
  const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
  const int found = file >= 0 && H5Lexists(file, group, H5P_DEFAULT) > 0;
  if (file >= 0) H5Fclose(file);
  return found;
}

int main(int argc, char** argv) {
  if (argc != 3) return 1;
  const char* from = argv[1];
  const char* to = argv[2];
  int done = 0;
  if (has_group(from, "fclib_global")) {
    struct fclib_global* problem = fclib_read_global(from);
    done = problem != NULL && fclib_write_global(problem, to) != 0;
    if (problem != NULL) fclib_delete_global(problem);
    free(problem);
  } else {
    struct fclib_local* problem = fclib_read_local(from);
    done = problem != NULL && fclib_write_local(problem, to) != 0;
    if (problem != NULL) fclib_delete_local(problem);
    free(problem);
  }
  if (done && has_group(from, "solution")) {
    struct fclib_solution* solution = fclib_read_solution(from);
    done = solution != NULL && fclib_write_solution(solution, to) != 0;
  }
  if (done && has_group(from, "guesses")) {
    int n = 0;
    struct fclib_solution* guesses = fclib_read_guesses(from, &n);
    done = guesses != NULL && fclib_write_guesses(n, guesses, to) != 0;
  }
  if (!done) fprintf(stderr, "fclib_copy: fclib fails on %s\n", from);
  return done ? 0 : 1;
}
