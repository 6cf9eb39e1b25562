// Also the window that moves over a source's text.
#include "importers/chrome/json/text_source.h"

#include <unistd.h>
#include <zlib.h>

#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "importers/chrome/json/text_window.h"

namespace kymo::chrome_import {
namespace {

constexpr int64_t kNoLimit = int64_t{1} << 40;

std::string Gzip(std::string_view text) {
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, text.size()), '\0');
  std::string in(text);
  stream.next_in = reinterpret_cast<Bytef*>(in.data());
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string Write(std::string_view bytes) {
  const std::string path = ::testing::TempDir() + "/text_source";
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

std::string Long() {
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += std::to_string(i * 7919) + ",";
  return text;
}

struct Got {
  absl::Status status;
  std::string text;
  std::string damage;
  bool has_rest = false;
};

Got ReadAll(std::string_view bytes, size_t step, int64_t limit = kNoLimit) {
  Got got;
  auto source = TextSource::Open(Write(bytes), limit);
  got.status = source.status();
  if (!source.ok()) return got;
  std::string buffer(step, '\0');
  while (true) {
    const auto count = (*source)->Read(buffer.data(), step);
    got.status = count.status();
    if (!count.ok()) return got;
    got.text.append(buffer, 0, *count);
    if (*count < step) break;
  }
  got.damage = (*source)->damage();
  got.has_rest = (*source)->has_rest();
  return got;
}

TEST(TextSourceTest, ReadsPlainFiles) {
  for (const size_t step : {1u, 3u, 100u}) {
    EXPECT_EQ(ReadAll("[1,2,3]", step).text, "[1,2,3]");
    EXPECT_EQ(ReadAll("", step).text, "");
    EXPECT_EQ(ReadAll("[", step).text, "[");
  }
}

TEST(TextSourceTest, ReadsGzipWhateverTheName) {
  const std::string text = Long();
  for (const size_t step : {1000u, 1u << 20}) {
    const Got got = ReadAll(Gzip(text), step);
    EXPECT_TRUE(got.text == text);
    EXPECT_EQ(got.damage, "");
  }
}

TEST(TextSourceTest, MembersOfGzipAreOneText) {
  EXPECT_EQ(ReadAll(Gzip("[1,") + Gzip("") + Gzip("2]"), 100).text, "[1,2]");
}

TEST(TextSourceTest, PaddingBehindGzipIsNoText) {
  const Got got = ReadAll(Gzip("[1]") + std::string(512, '\0'), 100);
  EXPECT_EQ(got.text, "[1]");
  EXPECT_EQ(got.damage, "");
}

TEST(TextSourceTest, SaysThatSomethingFollowsGzip) {
  for (const size_t step : {1u, 100u}) {
    const Got got = ReadAll(Gzip("[1]") + "rubbish", step);
    EXPECT_EQ(got.text, "[1]");
    EXPECT_EQ(got.damage, "");
    EXPECT_TRUE(got.has_rest);
    EXPECT_TRUE(ReadAll(Gzip("[") + std::string(9, '\0') + "x", step).has_rest);
    EXPECT_FALSE(ReadAll(Gzip("[") + std::string(9, '\0'), step).has_rest);
    EXPECT_FALSE(ReadAll(Gzip("[") + Gzip("]"), step).has_rest);
  }
}

TEST(TextSourceTest, GzipThatIsCutOffGivesWhatThereIs) {
  const std::string text = Long();
  const std::string zipped = Gzip(text);
  for (const size_t size : {size_t{2}, size_t{12}, zipped.size() / 2,
                            zipped.size() - 9, zipped.size() - 1}) {
    const Got got = ReadAll(zipped.substr(0, size), 1000);
    EXPECT_TRUE(got.status.ok());
    EXPECT_TRUE(text.starts_with(got.text));
    EXPECT_EQ(got.damage, "the gzip stream ends too early") << size;
  }
}

TEST(TextSourceTest, DamagedGzipSaysSo) {
  std::string zipped = Gzip(Long());
  zipped[zipped.size() / 2] ^= 0x55;
  EXPECT_NE(ReadAll(zipped, 1000).damage, "");
  std::string wrong_sum = Gzip("[1]");
  wrong_sum[wrong_sum.size() - 6] ^= 1;
  EXPECT_EQ(ReadAll(wrong_sum, 1000).damage,
            "the checksum of the gzip stream is wrong");
  EXPECT_EQ(ReadAll("\x1f\x8b no gzip at all", 1000).damage,
            "the gzip stream is damaged");
}

TEST(TextSourceTest, GzipBeyondTheLimitIsAnError) {
  const std::string zipped = Gzip(std::string(10'000'000, ' '));
  EXPECT_EQ(ReadAll(zipped, 4096, 9'999'999).status.code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(ReadAll(zipped, 4096, 10'000'000).status.ok());
  EXPECT_TRUE(ReadAll(std::string(100, ' '), 4096, 10).status.ok());
  for (const int64_t nothing : {0, -5}) {
    EXPECT_TRUE(ReadAll(Gzip(""), 10, nothing).status.ok());
    EXPECT_EQ(ReadAll(Gzip("x"), 10, nothing).status.message(),
              "the file unpacks to more bytes than max_unpacked_bytes allows; "
              "raise the limit (--max_unpacked_mib) if you trust it");
  }
}

// What is known of a file, after its first `size` bytes of text were read.
struct Known {
  double progress = -1;
  uint64_t expected_bytes = 1;
};

Known KnownAfter(const std::string& path, size_t size) {
  Known known;
  auto source = TextSource::Open(path, kNoLimit);
  EXPECT_TRUE(source.ok()) << source.status();
  if (!source.ok()) return known;
  std::string buffer(size, '\0');
  EXPECT_TRUE((*source)->Read(buffer.data(), size).ok());
  known.progress = (*source)->progress();
  known.expected_bytes = (*source)->expected_bytes();
  return known;
}

TEST(TextSourceTest, ProgressIsThePartOfTheFileThatWasRead) {
  const std::string path = Write(std::string(1000, ' '));
  // Two bytes are read to see whether it is gzip.
  EXPECT_DOUBLE_EQ(KnownAfter(path, 0).progress, 0.002);
  EXPECT_DOUBLE_EQ(KnownAfter(path, 250).progress, 0.25);
  EXPECT_DOUBLE_EQ(KnownAfter(path, 1000).progress, 1);
  EXPECT_DOUBLE_EQ(KnownAfter(path, 2000).progress, 1);
  EXPECT_EQ(KnownAfter(path, 250).expected_bytes, 1000u);
  // Of gzip, the packed bytes count; the text is longer.
  const std::string zipped = Gzip(Long());
  EXPECT_DOUBLE_EQ(KnownAfter(Write(zipped), Long().size()).progress, 1);
  EXPECT_GT(KnownAfter(Write(zipped), 1).expected_bytes, zipped.size());
}

TEST(TextSourceTest, OfAnEmptyFileOrAPipeNothingIsKnown) {
  EXPECT_EQ(KnownAfter(Write(""), 10).progress, 0);
  EXPECT_EQ(KnownAfter(Write(""), 10).expected_bytes, 0u);
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  ASSERT_EQ(write(ends[1], "[1]", 3), 3);
  close(ends[1]);
  const Known known = KnownAfter("/proc/self/fd/" + std::to_string(ends[0]), 3);
  EXPECT_EQ(known.progress, 0);
  EXPECT_EQ(known.expected_bytes, 0u);
  close(ends[0]);
}

TEST(TextSourceTest, FilesThatCannotBeReadAreErrors) {
  EXPECT_EQ(TextSource::Open("/nowhere/trace.json", kNoLimit).status().code(),
            absl::StatusCode::kNotFound);
  const absl::Status no_folder =
      TextSource::Open("/dev/null/trace.json", kNoLimit).status();
  EXPECT_EQ(no_folder.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(no_folder.message(),
            "cannot read /dev/null/trace.json: Not a directory");
  const absl::Status folder = TextSource::Open("/", kNoLimit).status();
  EXPECT_EQ(folder.code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(folder.message(), "cannot read /: Is a directory");
}

// Text in memory that notes how many bytes it was asked for.
class NotedText final : public TextSource {
 public:
  explicit NotedText(std::string text, uint64_t expected_bytes = 0)
      : text_(std::move(text)), expected_bytes_(expected_bytes) {}

  absl::StatusOr<size_t> Read(char* to, size_t size) override {
    asked.push_back(size);
    if (asked.size() == fails_at) return absl::UnavailableError("broken");
    const size_t bytes = text_.copy(to, size, at_);
    at_ += bytes;
    return bytes;
  }
  double progress() const override { return 0; }
  uint64_t expected_bytes() const override { return expected_bytes_; }

  std::vector<size_t> asked;
  size_t fails_at = 0;

 private:
  const std::string text_;
  const uint64_t expected_bytes_;
  size_t at_ = 0;
};

using Sizes = std::vector<size_t>;

TEST(TextWindowTest, MovesOverTheText) {
  NotedText source("abcdefghij");
  TextWindow window(source, 4);
  EXPECT_EQ(window.text(), "");
  EXPECT_FALSE(window.is_last());
  ASSERT_TRUE(window.Grow().ok());
  EXPECT_EQ(window.text(), "abcd");
  EXPECT_EQ(window.offset(), 0u);
  window.Pass(3);
  EXPECT_EQ(window.text(), "d");
  EXPECT_EQ(window.offset(), 3u);
  ASSERT_TRUE(window.Grow().ok());
  EXPECT_EQ(window.text(), "defgh");
  EXPECT_EQ(window.offset(), 3u);
  EXPECT_FALSE(window.is_last());
  window.Pass(5);
  window.Prefetch();
  window.Prefetch();
  EXPECT_EQ(window.text(), "");
  EXPECT_EQ(window.offset(), 8u);
  EXPECT_FALSE(window.is_last());
  // Fewer bytes than asked for are the last ones; nothing is read behind them.
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(window.Grow().ok());
    EXPECT_EQ(window.text(), "ij");
    EXPECT_TRUE(window.is_last());
  }
  EXPECT_EQ(source.asked, (Sizes{4, 4, 4}));
}

TEST(TextWindowTest, AFullWindowIsNotKnownToBeTheLast) {
  NotedText source("abcdefgh");
  TextWindow window(source, 4);
  ASSERT_TRUE(window.Grow().ok());
  ASSERT_TRUE(window.Grow().ok());
  EXPECT_EQ(window.text(), "abcdefgh");
  EXPECT_FALSE(window.is_last());
  ASSERT_TRUE(window.Grow().ok());
  EXPECT_EQ(window.text(), "abcdefgh");
  EXPECT_TRUE(window.is_last());
}

TEST(TextWindowTest, KeepsAsMuchAsWasNotPassed) {
  const std::string text = Long().substr(0, 500'000);
  for (const size_t size : {65'535u, 65'536u, 65'537u, 150'000u}) {
    NotedText source(text);
    TextWindow window(source, size);
    for (size_t read = size; read < text.size(); read += size) {
      ASSERT_TRUE(window.Grow().ok());
      EXPECT_TRUE(window.text() == text.substr(0, read)) << size;
    }
    window.Pass(400'000);
    ASSERT_TRUE(window.Grow().ok());
    EXPECT_TRUE(window.text() == text.substr(400'000)) << size;
    EXPECT_TRUE(window.is_last());
  }
}

// One byte more than expected shows that nothing follows.
TEST(TextWindowTest, SmallFilesAreReadAtOnce) {
  const auto first = [](uint64_t expected_bytes, size_t window_bytes) {
    NotedText source(std::string(expected_bytes, 'x'), expected_bytes);
    TextWindow window(source, window_bytes);
    EXPECT_TRUE(window.Grow().ok());
    EXPECT_EQ(window.is_last(), source.asked[0] > expected_bytes);
    return source.asked[0];
  };
  EXPECT_EQ(first(0, 100'000), 100'000u);
  EXPECT_EQ(first(1, 100'000), 4096u);
  EXPECT_EQ(first(4095, 100'000), 4096u);
  EXPECT_EQ(first(4096, 100'000), 4097u);
  EXPECT_EQ(first(99'998, 100'000), 99'999u);
  EXPECT_EQ(first(500'000, 100'000), 100'000u);
  EXPECT_EQ(first(1, 10), 10u);
}

TEST(TextWindowTest, AnErrorOfTheSourceStays) {
  NotedText source("abcdefgh");
  source.fails_at = 2;
  TextWindow window(source, 4);
  ASSERT_TRUE(window.Grow().ok());
  window.Prefetch();
  EXPECT_EQ(window.text(), "abcd");
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(window.Grow().message(), "broken");
    EXPECT_EQ(window.text(), "abcd");
  }
  EXPECT_EQ(source.asked, (Sizes{4, 4}));
}

}  // namespace
}  // namespace kymo::chrome_import
