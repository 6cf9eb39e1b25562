/* library.c - a shared library with a copy of the annotations of its own. */
#include "kymo/annotate.h"

void LibraryWork(void) {
  kymo_push("library");
  kymo_arg_double("share", 0.25);
  kymo_pop();
  /* One too many: it ends no range of the program. */
  kymo_pop();
}
