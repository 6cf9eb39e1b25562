// version.h - the version of Kymo that these headers belong to, for C and C++.
//
//   #include <stdio.h>
//
//   static_assert(KYMO_VERSION_MAJOR == 0, "another Kymo than we know");
//   puts("built with Kymo " KYMO_VERSION);
//
// The three numbers are the one place of the version: commands, packages and
// the names of their files take it from here.
#ifndef KYMO_PROFILER_API_VERSION_H_
#define KYMO_PROFILER_API_VERSION_H_

#define KYMO_VERSION_MAJOR 0
#define KYMO_VERSION_MINOR 1
#define KYMO_VERSION_PATCH 0

// "MAJOR.MINOR.PATCH"
#define KYMO_VERSION                                                 \
  KYMO_VERSION_WORD_(KYMO_VERSION_MAJOR)                             \
  "." KYMO_VERSION_WORD_(KYMO_VERSION_MINOR) "." KYMO_VERSION_WORD_( \
      KYMO_VERSION_PATCH)

// The text of a macro's value.
#define KYMO_VERSION_WORD_(number) KYMO_VERSION_SPELL_(number)
#define KYMO_VERSION_SPELL_(number) #number

#endif  // KYMO_PROFILER_API_VERSION_H_
