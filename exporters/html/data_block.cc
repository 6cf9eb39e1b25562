#include "exporters/html/data_block.h"

#include <cstddef>

#include "absl/strings/escaping.h"
#include "profiler/base/strings.h"
#include "profiler/text/utf8.h"

namespace kymo::html {
namespace {

// Appends base64 (RFC 4648) to `sink`, which it does not own.
class Base64Sink final : public ByteSink {
 public:
  explicit Base64Sink(ByteSink& sink) : sink_(sink) {}

  absl::Status Append(std::string_view bytes) override {
    pending_ += bytes;
    const std::string_view whole(pending_.data(),
                                 pending_.size() - pending_.size() % 3);
    const absl::Status status = Put(whole);
    pending_.erase(0, whole.size());
    return status;
  }

  absl::Status Commit() override { return Put(pending_); }

 private:
  absl::Status Put(std::string_view bytes) {
    absl::Base64Escape(ToAbsl(bytes), &text_);
    return sink_.Append(text_);
  }

  ByteSink& sink_;
  std::string pending_;  // to be written in threes
  std::string text_;
};

}  // namespace

DataBlock::DataBlock(std::string_view name, ByteSink& sink)
    : sink_(sink),
      compressed_(NewGzipSink(std::make_unique<Base64Sink>(sink))) {
  buffer_.reserve(2 * kBufferBytes);
  status_ =
      sink_.Append("<script type=\"application/octet-stream\" data-name=\"" +
                   std::string(name) + "\">");
}

void DataBlock::Text(std::string_view text) {
  const std::string_view utf8 = json::ToUtf8(text, scratch_);
  Unsigned(utf8.size());
  Raw(utf8);
}

void DataBlock::Raw(std::string_view bytes) {
  buffer_ += bytes;
  if (buffer_.size() >= kBufferBytes) Flush();
}

absl::Status DataBlock::End() {
  Flush();
  if (status_.ok()) status_ = compressed_->Commit();
  if (status_.ok()) status_ = sink_.Append("</script>\n");
  return status_;
}

void DataBlock::Flush() {
  if (status_.ok()) status_ = compressed_->Append(buffer_);
  buffer_.clear();
}

}  // namespace kymo::html
