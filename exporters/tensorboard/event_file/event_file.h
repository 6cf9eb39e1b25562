// event_file.h - TensorBoard's event files, record by record.
//
//   std::string file;
//   AppendFileVersion(file, start_s);
//   AppendScalar(file, {.tag = "loss", .value = 0.5, .step = 3});
//   AppendGraph(file, start_s, graph_def);
//   AppendRunMetadata(file, start_s, "profile", run_metadata);
//
// A file is records and nothing else: u64 length, masked CRC-32C of the length,
// an `Event` message, masked CRC-32C of it. So a file may be read while it
// grows: what is not complete yet is not there yet.
//
// Threads: pure functions. Errors: none. Texts need not be UTF-8.
#ifndef KYMO_EXPORTERS_TENSORBOARD_EVENT_FILE_EVENT_FILE_H_
#define KYMO_EXPORTERS_TENSORBOARD_EVENT_FILE_EVENT_FILE_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace kymo::tensorboard {

struct Scalar {
  std::string tag;  // what stands before its first slash is TensorBoard's group
  double value = 0;  // written as float: NaN and infinities stay what they are
  int64_t step = 0;
  double wall_time_s = 0;  // since the epoch
};

// One record.
void AppendRecord(std::string& out, std::string_view event);

// What a file begins with.
void AppendFileVersion(std::string& out, double wall_time_s);
void AppendScalar(std::string& out, const Scalar& scalar);
// `graph_def` and `run_metadata` are messages of program_graph.h. A run has one
// graph: the last. Metadata of a tag replaces what had that tag.
void AppendGraph(std::string& out, double wall_time_s,
                 std::string_view graph_def);
void AppendRunMetadata(std::string& out, double wall_time_s,
                       std::string_view tag, std::string_view run_metadata);

// "events.out.tfevents.1735632360.host.4242.0": TensorBoard reads files of a
// folder whose names hold "tfevents", in the order of their names.
std::string EventFileName(int64_t seconds, std::string_view host, int64_t pid,
                          int64_t number);

// This machine's name, fit for the name of a file.
std::string HostName();

}  // namespace kymo::tensorboard

#endif  // KYMO_EXPORTERS_TENSORBOARD_EVENT_FILE_EVENT_FILE_H_
