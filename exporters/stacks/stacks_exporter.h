// stacks_exporter.h - `stacks`: where time and memory went, by stack, for flame
// graph tools.
//
//   the trace has        | stacks.folded       | stacks.ranges.folded
//   samples              | sampled stacks      |
//   ranges               | paths of ranges     |
//   both                 | sampled stacks      | paths of ranges
//   neither              | empty               |
//
//   waits                | stacks.off_cpu.folded: time in which threads waited
//   samples and waits    | stacks.wall.folded: that and the time on a CPU
//   memory with stacks   | stacks.memory.folded: bytes allocated
//                        | stacks.memory.alive.folded: those not freed
//
//   always               | stacks.pb.gz: samples, waits and ranges for pprof
//   memory with stacks   | stacks.memory.pb.gz: the same for memory
//   always               | stacks.speedscope.json: samples and ranges for
//                        | speedscope; .json.gz with options.gzip, or if it
//                        | is too large
//
// Folded stacks are text:
//
//   xz;main;lzma_code;lzma_lz_encoder 125000000
//
//   file  = { line }
//   line  = frame { ";" frame } " " weight "\n"
//   frame = text without ";", tab, line feed or carriage return
//
// The root comes first: it is the name of the process. The weight is CPU time
// or time of waits in ns, or bytes, and more than 0. Equal stacks are one line,
// and lines are sorted. Files of memory exist only if the trace has memory
// records with stacks (memory_stacks.h). The weight of a path of ranges is the
// self time of its innermost range. A stack of a wait ends with a frame that
// says what the thread waited for: "[lock wait]", or "[poll wait, idle]" if it
// waited for work (profiler/analysis/waits.h). See pprof_profiles.h and
// speedscope.h for the other formats.
//
//   setting         | value
//   stacks_formats  | those to write, separated by commas: folded, speedscope,
//                   | pprof
//   stacks_metric   | of folded stacks: weight (ns or bytes), or count
//                   | (samples, calls, waits or blocks; then there is no
//                   | stacks.wall.folded)
//   stacks_threads  | 1: folded stacks have "thread <tid> (<name>)" below the
//                   | process
//   stacks_max_frames | frames of a stack (default 512; 0: all). A deeper one
//                   | keeps its outermost frames and its innermost one, with
//                   | "[N frames folded]" between them (frame_tree.h). So no
//                   | file grows faster than the trace. Only the ranges in
//                   | speedscope's file are as deep as they were
//   stacks_min_share | of memory in folded stacks (default 0.001): stacks below
//                   | that part of the bytes are "[other]", below the frames
//                   | around them. pprof's file has each of them
//
// Within options.max_bytes, the files of folded stacks share a half, each with
// what those before it left: their least stacks become "[other]". speedscope's
// file may take the other half: it is compressed, and then ranges are folded
// (timeline/bounded_file.h). pprof's are compressed anyway and keep every
// stack. options.notes says what was folded.
//
// If a recording is larger than memory, the exporter writes only the self times
// of paths of ranges, without threads, as folded stacks. CPU samples are in
// memory all the same: they have all their files, as if there were no memory
// records.
//
// Memory: about 100 bytes for each distinct stack or path. Each step of a
//   program (ProfilerStep#N) has paths of its own.
#ifndef KYMO_EXPORTERS_STACKS_STACKS_EXPORTER_H_
#define KYMO_EXPORTERS_STACKS_STACKS_EXPORTER_H_

#include <memory>

#include "profiler/plugin/trace_exporter.h"

namespace kymo {

std::unique_ptr<TraceExporter> NewStacksExporter();

}  // namespace kymo

#endif  // KYMO_EXPORTERS_STACKS_STACKS_EXPORTER_H_
