// event_file.h - TensorBoard's event files, record by record.
//
//   std::string file;
//   AppendFileVersion(file, start_s);
//   AppendScalar(file, {.tag = "loss", .value = 0.5, .step = 3});
//   AppendGraph(file, start_s, graph_def);
//   AppendRunMetadata(file, start_s, "profile", run_metadata);
//
// A file is a sequence of records. Each record is the length as u64, the masked
// CRC-32C of the length, an `Event` message (event.proto), and the masked
// CRC-32C of the message. A reader can therefore follow a file that still
// grows: it waits until a record is complete.
//
// Threads: pure functions. Errors: none. Texts need not be UTF-8.
#ifndef KYMO_EXPORTERS_TENSORBOARD_EVENT_FILE_EVENT_FILE_H_
#define KYMO_EXPORTERS_TENSORBOARD_EVENT_FILE_EVENT_FILE_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace kymo::tensorboard {

struct Scalar {
  std::string tag;   // TensorBoard groups by the part before the first slash
  double value = 0;  // written as a float; NaN and infinities are kept
  int64_t step = 0;
  double wall_time_s = 0;  // since the epoch
};

// Appends one record.
void AppendRecord(std::string& out, std::string_view event);

// Appends the record that every file begins with.
void AppendFileVersion(std::string& out, double wall_time_s);
void AppendScalar(std::string& out, const Scalar& scalar);
// `graph_def` and `run_metadata` are messages of program_graph.h. A run has one
// graph: the last one wins. Metadata replaces earlier metadata of its tag.
void AppendGraph(std::string& out, double wall_time_s,
                 std::string_view graph_def);
void AppendRunMetadata(std::string& out, double wall_time_s,
                       std::string_view tag, std::string_view run_metadata);

// "events.out.tfevents.1735632360.host.4242.0". TensorBoard reads the files of
// a folder whose names contain "tfevents", in the order of their names.
std::string EventFileName(int64_t seconds, std::string_view host, int64_t pid,
                          int64_t number);

// This machine's name. Characters that do not fit a file name become "_".
std::string HostName();

}  // namespace kymo::tensorboard

#endif  // KYMO_EXPORTERS_TENSORBOARD_EVENT_FILE_EVENT_FILE_H_
