#include "profiler/symbolize/jit/jit_readers.h"

#include <elf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>
#include <system_error>
#include <utility>

#include "profiler/symbolize/jit/jit_function_name.h"

namespace kymo::symbolize {
namespace {

constexpr size_t kBlockBytes = size_t{1} << 16;
constexpr size_t kLongestLine = JitCode::kLongestName + 64;
constexpr size_t kRememberedBytes = 64;

// Reads up to `most_bytes` into `buffer`, as far as the file goes.
void ReadAt(int fd, off_t offset, size_t most_bytes, std::string& buffer) {
  buffer.resize(most_bytes);
  size_t got = 0;
  while (got < most_bytes) {
    const ssize_t n = pread(fd, buffer.data() + got, most_bytes - got,
                            offset + static_cast<off_t>(got));
    if (n <= 0) break;
    got += static_cast<size_t>(n);
  }
  buffer.resize(got);
}

// Takes a hexadecimal number and the blank behind it off the text.
std::optional<uint64_t> TakeHex(std::string_view& text) {
  if (text.starts_with("0x")) text.remove_prefix(2);
  uint64_t value = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value, 16);
  const auto digits = static_cast<size_t>(end - text.data());
  if (error != std::errc() || digits == text.size() || *end != ' ') {
    return std::nullopt;
  }
  text.remove_prefix(digits + 1);
  return value;
}

// Takes a number off the front; 0 if the text is too short.
template <typename T>
T Take(std::string_view& text) {
  T value{};
  if (text.size() < sizeof(value)) {
    text = {};
    return value;
  }
  std::memcpy(&value, text.data(), sizeof(value));
  text.remove_prefix(sizeof(value));
  return value;
}

// Takes the text up to a zero byte, or to the end.
std::string_view TakeText(std::string_view& text) {
  const std::string_view taken = text.substr(0, text.find('\0'));
  text.remove_prefix(std::min(text.size(), taken.size() + 1));
  return taken;
}

}  // namespace

bool PerfMapReader::IsWhatWasRead(int fd) const {
  std::string now;
  ReadAt(fd, read_bytes_ - static_cast<off_t>(last_read_.size()),
         last_read_.size(), now);
  return now == last_read_;
}

void PerfMapReader::Read(int fd, TimeNs now_ns, JitCode& code) {
  // A runtime may write its whole map again.
  if (!IsWhatWasRead(fd)) {
    read_bytes_ = 0;
    last_read_.clear();
    rest_.clear();
  }
  for (std::string block; !is_too_large_;) {
    ReadAt(fd, read_bytes_, kBlockBytes, block);
    if (block.empty()) break;
    read_bytes_ += static_cast<off_t>(block.size());
    last_read_ =
        block.substr(block.size() - std::min(block.size(), kRememberedBytes));
    AddLines(block, code);
    is_too_large_ = read_bytes_ >= kMostJitBytes;
  }
  since_ns_ = now_ns;
}

void PerfMapReader::AddLines(std::string_view text, JitCode& code) {
  for (size_t end; (end = text.find('\n')) != std::string_view::npos;
       text.remove_prefix(end + 1)) {
    if (rest_.empty()) {
      AddLine(text.substr(0, end), code);
    } else {
      rest_.append(text.substr(0, std::min(end, kLongestLine)));
      AddLine(rest_, code);
      rest_.clear();
    }
  }
  // Of a line without end the beginning is enough.
  if (rest_.size() < kLongestLine) rest_.append(text.substr(0, kLongestLine));
}

void PerfMapReader::AddLine(std::string_view line, JitCode& code) const {
  const auto start = TakeHex(line);
  const auto size = start ? TakeHex(line) : std::nullopt;
  if (!size || line.empty()) return;
  code.Add({.start = *start, .size_bytes = *size, .since_ns = since_ns_}, line);
}

void PerfMapReader::Finish(JitCode& code) {
  AddLine(rest_, code);
  rest_.clear();
}

namespace {

// The parts of a jitdump. Each begins where the one before it ends.
struct DumpHeader {
  uint32_t magic;
  uint32_t version;
  uint32_t size_bytes;
  uint32_t machine;
  uint32_t padding;
  uint32_t pid;
  uint64_t time_ns;
  uint64_t flags;
};

struct RecordHeader {
  uint32_t id;
  uint32_t size_bytes;
  uint64_t time_ns;
};

constexpr uint32_t kDumpMagic = 0x4a695444;  // "JiTD"
constexpr uint64_t kHasTicks = 1;            // of the flags

constexpr uint32_t kCodeLoad = 0;
constexpr uint32_t kCodeMove = 1;
constexpr uint32_t kDebugInfo = 2;
constexpr uint32_t kClose = 3;

// What is read of a record: of loaded code not the code itself.
constexpr size_t kMostLoadBytes = 40 + JitCode::kLongestName;
constexpr size_t kMostLineBytes = size_t{4} << 20;
// IsJavaScriptName says why.
constexpr uint64_t kV8Shift = 64;

}  // namespace

bool JitDumpReader::ReadHeader(int fd) {
  ReadAt(fd, 0, sizeof(DumpHeader), buffer_);
  if (buffer_.size() < sizeof(DumpHeader)) return false;  // not yet written
  DumpHeader header;
  std::memcpy(&header, buffer_.data(), sizeof(header));
  if (header.magic != kDumpMagic || header.machine != EM_X86_64 ||
      header.size_bytes < sizeof(header)) {
    is_damaged_ = true;
    return false;
  }
  has_ticks_ = (header.flags & kHasTicks) != 0;
  at_ = header.size_bytes;
  return true;
}

void JitDumpReader::Read(int fd, JitCode& code) {
  struct stat status;
  if (is_damaged_ || fstat(fd, &status) != 0) return;
  if (at_ == 0 && !ReadHeader(fd)) return;
  while (ReadRecord(fd, static_cast<uint64_t>(status.st_size), code)) {
  }
}

bool JitDumpReader::ReadRecord(int fd, uint64_t file_bytes, JitCode& code) {
  if (is_damaged_ || is_too_large()) return false;
  ReadAt(fd, static_cast<off_t>(at_), sizeof(RecordHeader), buffer_);
  if (buffer_.size() < sizeof(RecordHeader)) return false;
  RecordHeader header;
  std::memcpy(&header, buffer_.data(), sizeof(header));
  if (header.size_bytes < sizeof(header)) {
    is_damaged_ = true;
    return false;
  }
  if (at_ + header.size_bytes > file_bytes) return false;  // not yet written
  const Record record{header.id, header.size_bytes, header.time_ns};
  const size_t most_bytes = record.id == kDebugInfo  ? kMostLineBytes
                            : record.id <= kCodeMove ? kMostLoadBytes
                                                     : 0;
  ReadAt(fd, static_cast<off_t>(at_ + sizeof(header)),
         std::min<size_t>(header.size_bytes - sizeof(header), most_bytes),
         buffer_);
  at_ += header.size_bytes;
  read_bytes_ += static_cast<off_t>(sizeof(header) + buffer_.size());
  if (record.id == kCodeLoad) AddLoad(record, buffer_, code);
  if (record.id == kCodeMove) AddMove(record, buffer_, code);
  if (record.id == kDebugInfo) {
    std::swap(buffer_, lines_text_);
    ReadLines(lines_text_);
  }
  return record.id != kClose;
}

TimeNs JitDumpReader::TimeOf(const Record& record) const {
  if (has_ticks_ || record.time_ns > INT64_MAX / 2) return JitCode::kAlways;
  return static_cast<TimeNs>(record.time_ns) + epoch_offset_ns_;
}

void JitDumpReader::AddLoad(const Record& record, std::string_view body,
                            JitCode& code) {
  Take<uint64_t>(body);  // process and thread, as the program knows them
  Take<uint64_t>(body);  // another address, which only files of code use
  const auto address = Take<uint64_t>(body);
  const auto size_bytes = Take<uint64_t>(body);
  const auto index = Take<uint64_t>(body);
  const std::string_view name = TakeText(body);
  if (lines_address_ != address) lines_.clear();
  if (IsJavaScriptName(name)) {
    const auto is_right = [&](const JitLine& line) {
      return IsScriptOf(name, line.file);
    };
    if (!std::ranges::all_of(lines_, is_right)) lines_.clear();
    for (JitLine& line : lines_) line.offset -= std::min(line.offset, kV8Shift);
  }
  const size_t before = code.functions().size();
  code.Add(
      {.start = address, .size_bytes = size_bytes, .since_ns = TimeOf(record)},
      name, lines_);
  if (code.functions().size() > before) loaded_[index] = before;
  lines_.clear();
}

void JitDumpReader::AddMove(const Record& record, std::string_view body,
                            JitCode& code) {
  Take<uint64_t>(body);
  Take<uint64_t>(body);
  Take<uint64_t>(body);  // where it was
  const auto address = Take<uint64_t>(body);
  const auto size_bytes = Take<uint64_t>(body);
  const auto loaded = loaded_.find(Take<uint64_t>(body));
  if (loaded == loaded_.end()) return;
  code.AddMoved(
      loaded->second,
      {.start = address, .size_bytes = size_bytes, .since_ns = TimeOf(record)});
}

void JitDumpReader::ReadLines(std::string_view body) {
  // Stands for the file of the line before.
  constexpr std::string_view kSameFile = "\xff";
  lines_.clear();
  lines_address_ = Take<uint64_t>(body);
  const auto count = Take<uint64_t>(body);
  for (uint64_t i = 0; i < count && !body.empty(); ++i) {
    const auto address = Take<uint64_t>(body);
    const auto line = Take<uint32_t>(body);
    Take<uint32_t>(body);  // which of the line's parts
    const std::string_view file = TakeText(body);
    if (address < lines_address_) continue;
    const std::string_view before = lines_.empty() ? "" : lines_.back().file;
    lines_.push_back(
        {address - lines_address_, file == kSameFile ? before : file, line});
  }
  std::ranges::stable_sort(lines_, {}, &JitLine::offset);
}

}  // namespace kymo::symbolize
