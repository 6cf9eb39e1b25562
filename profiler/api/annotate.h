/* annotate.h - annotate a program in C, or in a language that calls C.
 *
 *   #include "kymo/annotate.h"
 *
 *   kymo_push("forward");              // a range of this thread begins
 *   kymo_arg_int("rows", 64);          // a value of that range
 *   kymo_counter("queue length", 12);
 *   kymo_instant("weights loaded");
 *   kymo_pop();                        // the range ends
 *
 * `kymo -- ./program` records what is annotated. The file is C89 and C++98, and
 * the library behind it (libkymo-annotate.a) needs glibc and libgcc alone. In
 * C++20 record_function.h does more: inputs, scopes, ranges that end with a
 * block.
 *
 * Texts:   NUL-terminated UTF-8, and copied. A name in memory that the program
 *   uses again for other names is fine. A null pointer is "(no name)".
 * Ranges:  kymo_pop ends the innermost range that its thread began in the same
 *   copy (see below). If there is none, it does nothing. A range that began
 *   before the recording did is not recorded, and its kymo_pop ends no other.
 * Threads: any. A signal handler may call everything if it pops what it pushes.
 * Errors:  none. The trace's loss ledger counts what could not be kept.
 * Cost:    a call, a few loads and branches while nobody records (2 ns), and no
 *   memory.
 *   While somebody does, a range costs more than one of record_function.h,
 *   because its name is looked up. A thread's first range then maps 16 KiB, and
 *   the process's first name takes 64 MiB of address space.
 * Copies:  a program, and each shared library, that links the archive has a
 *   copy of its own; other files do not see its symbols. Copies of one version
 *   record together, for `kymo` and for sessions within the program
 *   (profile.h): a thread has one stream, and ranges of a program and its
 *   libraries nest. A thread records through its first 16 copies; what others
 *   say is lost, and counted. A set-uid program's ranges are not recorded. A
 *   shared library that has annotated stays loaded after dlclose.
 * Version: build with the version of Kymo that records. If the program itself
 *   has records that `kymo` cannot read, `kymo` says so.
 */
#ifndef KYMO_PROFILER_API_ANNOTATE_H_
#define KYMO_PROFILER_API_ANNOTATE_H_

/* The header of C: the file is compiled as C, too. */
#include <stdint.h> /* NOLINT(modernize-deprecated-headers) */

#ifdef __cplusplus
extern "C" {
#endif

/* Begins a range of the calling thread, within those that are open there. */
void kymo_push(const char* name);

/* Ends the innermost open range of the calling thread. */
void kymo_pop(void);

/* Add a value to the innermost open range. Without one they do nothing. A key
 * that comes twice keeps its last value. A text of more than 65,536 bytes is
 * cut. */
void kymo_arg_int(const char* key, int64_t value);
void kymo_arg_double(const char* key, double value);
void kymo_arg_text(const char* key, const char* value);

/* Records a point in time. A name of more than 4096 bytes is cut. */
void kymo_instant(const char* name);

/* Records the value that a counter has from now on. A name of more than 65,536
 * bytes is cut, as a key is. */
void kymo_counter(const char* name, double value);

/* 1 while somebody records this process, else 0. Ask before you make values
 * that are expensive. */
int kymo_is_recording(void);

/* Lets `kymo profile --pid` record the annotations while the program runs, as
 * kymo/attach.h says. 0, or an errno: EBUSY if the program has recorded itself
 * before. KYMO_ATTACH=1 in its environment does the same at its start. */
int kymo_allow_attach(void);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* KYMO_PROFILER_API_ANNOTATE_H_ */
