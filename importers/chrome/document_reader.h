// document_reader.h - reads the document of a Chrome trace from beginning to
// end.
//
//   DocumentReader reader(*source, options, consumer);
//   KYMO_RETURN_IF_ERROR(reader.Run());
//
// A file is an object with the member traceEvents, or only that list. Its text
// passes through a window. Within the list, the window is cut into stretches at
// places where elements seem to end, and the stretches are parsed in parallel.
// If a stretch is a list of complete objects, its end was right. If it is not,
// the elements from there on are read one by one, until they reach a cut again.
//
// Threads: the consumer is called by one thread at a time, in the order of the
//   file.
// Errors: kInvalidArgument if the file is no trace, and the errors of the
//   source.
#ifndef KYMO_IMPORTERS_CHROME_DOCUMENT_READER_H_
#define KYMO_IMPORTERS_CHROME_DOCUMENT_READER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "importers/chrome/events/event_parser.h"
#include "importers/chrome/events/findings.h"
#include "importers/chrome/events/parsed_events.h"
#include "importers/chrome/json/text_source.h"
#include "importers/chrome/json/text_window.h"
#include "profiler/base/per_worker.h"

namespace kymo::chrome_import {

// Receives what the reader finds.
class DocumentConsumer {
 public:
  virtual ~DocumentConsumer() = default;
  // May change the events. The reader uses their memory again.
  virtual void TakeEvents(ParsedEvents& events) = 0;
  // A member of the file other than traceEvents. `value` is JSON text.
  virtual void TakeMember(std::string_view key, std::string_view value) = 0;
};

struct ReaderOptions {
  size_t window_bytes = TextWindow::kWindowBytes;
  size_t stretch_bytes = size_t{128} << 10;
  // Longer elements and members are left out.
  size_t max_element_bytes = size_t{16} << 20;
  std::function<void(double)> progress;  // may be empty
};

class DocumentReader {
 public:
  // All must outlive the object.
  DocumentReader(TextSource& source, const ReaderOptions& options,
                 DocumentConsumer& consumer);

  absl::Status Run();

  const Findings& findings() const { return findings_; }
  // How many elements were not JSON, or were cut off.
  uint64_t lost_elements() const { return lost_elements_; }
  bool is_cut_off() const { return is_cut_off_; }

 private:
  struct Stretch {
    size_t begin = 0;
    size_t end = 0;
    ParsedEvents events;
    bool is_good = false;
  };
  // The next thing to do after an element, or after a text in its place.
  enum class Step : uint8_t { kGoOn, kNeedMore, kEndOfList };

  absl::Status ReadObject();
  absl::Status ReadMembers();
  absl::Status ReadValue(const std::string& key);
  absl::Status SkipValue();
  absl::Status ReadEvents();
  absl::Status FinishDocument();

  // Parses as much of the window as possible. False if the list has ended.
  bool ReadWindow();
  std::vector<Stretch> CutWindow();
  void ParseStretches(std::vector<Stretch>& stretches);
  Step ReadElement(size_t& at, ParsedEvents& out);
  Step ReadBrokenElement(size_t& at, ParsedEvents& out);
  bool FindWay();
  size_t BytesToLetGo() const;
  size_t FindGoodElement(size_t from);
  void TakePending();
  ParsedEvents TakeSpare();

  // Skips spaces and reads on as needed. Unless it is the end, a byte follows.
  absl::Status PassSpace();
  bool at_end() const { return window_.text().empty() && window_.is_last(); }
  absl::Status Unexpected(std::string_view wanted) const;
  void CutOff();

  TextSource& source_;
  const ReaderOptions options_;
  DocumentConsumer& consumer_;
  TextWindow window_;
  PerWorker<EventParser> parsers_;
  EventParser parser_;
  std::vector<ParsedEvents> pending_;  // parsed, not yet handed on
  std::vector<ParsedEvents> spare_;    // empty, with memory for more
  bool has_events_ = false;
  bool is_bare_list_ = false;
  bool is_lost_ = false;      // in an element that does not end
  size_t scanned_bytes_ = 0;  // of this window, in vain
  bool is_cut_off_ = false;
  uint64_t lost_elements_ = 0;
  Findings findings_;
};

}  // namespace kymo::chrome_import

#endif  // KYMO_IMPORTERS_CHROME_DOCUMENT_READER_H_
