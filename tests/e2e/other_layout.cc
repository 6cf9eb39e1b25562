// other_layout.cc - a program that seems to have a later version of Kymo.
#include "profiler/record/arena/layout.h"
#include "profiler/record/arena/layout_note.h"

KYMO_LAYOUT_NOTE(kymo::record::kLayoutVersion + 1);

int main() { return 0; }
