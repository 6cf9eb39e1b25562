/* program.c - a program in C89 that annotates itself, as its library does. */
#include "kymo/annotate.h"

void LibraryWork(void);

int main(void) {
  int i;
  for (i = 0; i < 3; ++i) {
    kymo_push("step");
    kymo_arg_int("number", i);
    LibraryWork();
    kymo_arg_text("said", "after the library");
    kymo_pop();
  }
  kymo_instant("loaded");
  kymo_counter("queue", 2.5);
  return kymo_is_recording() ? 0 : 3;
}
