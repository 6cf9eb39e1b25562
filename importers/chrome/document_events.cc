// Reads the list of events of a document; see document_reader.h.
#include <algorithm>
#include <utility>

#include "importers/chrome/document_reader.h"
#include "importers/chrome/json/value_scanner.h"
#include "profiler/base/parallel.h"
#include "profiler/base/status_macros.h"

namespace kymo::chrome_import {
namespace {

constexpr size_t kNone = std::string_view::npos;

// The length of spaces, a comma, and spaces.
size_t SeparatorBytes(std::string_view text) {
  size_t bytes = CountSpace(text);
  if (bytes < text.size() && text[bytes] == ',') ++bytes;
  return bytes + CountSpace(text.substr(bytes));
}

}  // namespace

absl::Status DocumentReader::ReadEvents() {
  has_events_ = true;
  while (ReadWindow()) {
    if (options_.progress) options_.progress(source_.progress());
    if (window_.is_last()) {
      // A file that is only the list may end without its bracket.
      if (!is_bare_list_ || !window_.text().empty()) CutOff();
      return absl::OkStatus();
    }
    KYMO_RETURN_IF_ERROR(window_.Grow());
  }
  return absl::OkStatus();
}

bool DocumentReader::ReadWindow() {
  scanned_bytes_ = 0;
  if (is_lost_ && !FindWay()) return true;
  std::vector<Stretch> stretches = CutWindow();
  ParseStretches(stretches);
  size_t at = 0;
  Step step = Step::kGoOn;
  for (size_t i = 0; step == Step::kGoOn;) {
    while (i < stretches.size() && stretches[i].begin < at) ++i;
    if (i < stretches.size() && stretches[i].begin == at &&
        stretches[i].is_good) {
      at = stretches[i].end;
      pending_.push_back(std::move(stretches[i].events));
      continue;
    }
    const size_t stop = i < stretches.size() ? stretches[i].begin : kNone;
    ParsedEvents events = TakeSpare();
    // Reads at least one element, and on to where the next stretch begins.
    do {
      step = ReadElement(at, events);
    } while (step == Step::kGoOn && (at < stop || stop == kNone));
    events.end_offset = window_.offset() + at;
    pending_.push_back(std::move(events));
  }
  window_.Pass(at);
  return step != Step::kEndOfList;
}

// Skips the rest of an element that has no end. False if that is the whole
// window.
bool DocumentReader::FindWay() {
  const size_t next = FindGoodElement(0);
  is_lost_ = next == kNone;
  window_.Pass(is_lost_ ? BytesToLetGo() : next);
  return !is_lost_;
}

// In a window without a good element: how much cannot be the beginning of one.
size_t DocumentReader::BytesToLetGo() const {
  constexpr size_t kKept = 1024;
  const std::string_view text = window_.text();
  if (window_.is_last()) return text.size();
  const size_t last = FindLastElementEnd(text);
  if (last != kNone && text.size() - last <= options_.max_element_bytes) {
    return last - 1;
  }
  return text.size() - std::min(text.size(), kKept);
}

// The first position from `from` on where an element ends and an event follows.
// Text that only looks like it, in a string or in a list of arguments, hardly
// ever has a phase. npos if there is none, or if the search took too long.
size_t DocumentReader::FindGoodElement(size_t from) {
  const std::string_view text = window_.text();
  for (size_t next = FindElementEnd(text, from); next != kNone;
       next = FindElementEnd(text, next)) {
    if (scanned_bytes_ > 8 * options_.max_element_bytes) return kNone;
    const size_t begin = next + SeparatorBytes(text.substr(next));
    const size_t length = FindValueEnd(text.substr(begin));
    scanned_bytes_ += length == kNone ? text.size() - begin : length;
    ParsedEvents events;
    if (length != kNone &&
        parser_.Parse(text.substr(begin, length), 0, events) &&
        events.findings.count(Rule::kPhaseMissing) == 0) {
      return next;
    }
  }
  return kNone;
}

// Each stretch begins where the previous one ends: before a comma.
std::vector<DocumentReader::Stretch> DocumentReader::CutWindow() {
  const std::string_view text = window_.text();
  std::vector<Stretch> stretches;
  const size_t last = FindLastElementEnd(text);
  if (last == kNone) return stretches;
  size_t begin = 0;
  while (begin < last) {
    size_t end = last;
    if (last - begin > options_.stretch_bytes) {
      end = FindElementEnd(text, begin + options_.stretch_bytes);
      if (end == kNone || end > last) end = last;
    }
    Stretch& stretch = stretches.emplace_back();
    stretch.begin = begin;
    stretch.end = end;
    stretch.events = TakeSpare();
    stretch.events.end_offset = window_.offset() + end;
    begin = end;
  }
  return stretches;
}

// Parses the stretches. Meanwhile, other threads hand on what was parsed
// before, and read ahead.
void DocumentReader::ParseStretches(std::vector<Stretch>& stretches) {
  const std::string_view text = window_.text();
  const uint64_t offset = window_.offset();
  ParallelForEach(stretches.size() + 2, [&](size_t task) {
    if (task == 0) return TakePending();
    if (task == 1) return window_.Prefetch();
    Stretch& stretch = stretches[task - 2];
    std::string_view elements =
        text.substr(stretch.begin, stretch.end - stretch.begin);
    const size_t skipped = SeparatorBytes(elements);
    elements.remove_prefix(skipped);
    stretch.is_good = parsers_.Local().Parse(
        elements, offset + stretch.begin + skipped, stretch.events);
  });
}

DocumentReader::Step DocumentReader::ReadElement(size_t& at,
                                                 ParsedEvents& out) {
  const std::string_view text = window_.text();
  while (at < text.size() && (IsJsonSpace(text[at]) || text[at] == ',')) ++at;
  if (at == text.size()) return Step::kNeedMore;
  if (text[at] == ']') {
    ++at;
    return Step::kEndOfList;
  }
  const std::string_view rest = text.substr(at);
  const size_t length = FindValueEnd(rest);
  if (length == kNone ||
      (length == rest.size() && !window_.is_last() && rest.front() != '{')) {
    if (rest.size() <= options_.max_element_bytes && !window_.is_last()) {
      return Step::kNeedMore;
    }
    return ReadBrokenElement(at, out);
  }
  const uint64_t offset = window_.offset() + at;
  if (rest.front() != '{') {
    out.findings.Add(Rule::kElementNoObject, offset);
    ++lost_elements_;
    at += std::max<size_t>(length, 1);
    return Step::kGoOn;
  }
  if (parser_.Parse(rest.substr(0, length), offset, out)) {
    at += length;
    return Step::kGoOn;
  }
  out.findings.Add(Rule::kElementUnreadable, offset);
  ++lost_elements_;
  at += length;
  return Step::kGoOn;
}

// Handles an element without an end: goes on where the next event begins.
DocumentReader::Step DocumentReader::ReadBrokenElement(size_t& at,
                                                       ParsedEvents& out) {
  // Each such element costs a search through the rest of the window.
  scanned_bytes_ += window_.text().size() - at;
  const size_t next = FindGoodElement(at);
  if (next == kNone && window_.is_last()) return Step::kNeedMore;
  out.findings.Add(Rule::kElementUnreadable, window_.offset() + at);
  ++lost_elements_;
  is_lost_ = next == kNone;
  at = is_lost_ ? std::max(at, BytesToLetGo()) : next;
  return is_lost_ ? Step::kNeedMore : Step::kGoOn;
}

void DocumentReader::TakePending() {
  for (ParsedEvents& events : pending_) {
    consumer_.TakeEvents(events);
    events.Clear();
    spare_.push_back(std::move(events));
  }
  pending_.clear();
}

ParsedEvents DocumentReader::TakeSpare() {
  if (spare_.empty()) return ParsedEvents();
  ParsedEvents events = std::move(spare_.back());
  spare_.pop_back();
  return events;
}

}  // namespace kymo::chrome_import
