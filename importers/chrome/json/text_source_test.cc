#include "importers/chrome/json/text_source.h"

#include <unistd.h>
#include <zlib.h>

#include <fstream>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

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

TEST(TextSourceTest, GzipThatIsCutOffGivesWhatThereIs) {
  const std::string text = Long();
  const std::string zipped = Gzip(text);
  for (const size_t size : {size_t{2}, size_t{12}, zipped.size() / 2,
                            zipped.size() - 9, zipped.size() - 1}) {
    const Got got = ReadAll(zipped.substr(0, size), 1000);
    EXPECT_TRUE(got.status.ok());
    EXPECT_TRUE(text.starts_with(got.text));
    EXPECT_NE(got.damage, "") << size;
  }
}

TEST(TextSourceTest, DamagedGzipSaysSo) {
  std::string zipped = Gzip(Long());
  zipped[zipped.size() / 2] ^= 0x55;
  EXPECT_NE(ReadAll(zipped, 1000).damage, "");
  std::string wrong_sum = Gzip("[1]");
  wrong_sum[wrong_sum.size() - 6] ^= 1;
  EXPECT_NE(ReadAll(wrong_sum, 1000).damage, "");
}

TEST(TextSourceTest, GzipBeyondTheLimitIsAnError) {
  const std::string zipped = Gzip(std::string(10'000'000, ' '));
  EXPECT_EQ(ReadAll(zipped, 4096, 9'999'999).status.code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(ReadAll(zipped, 4096, 10'000'000).status.ok());
  EXPECT_TRUE(ReadAll(std::string(100, ' '), 4096, 10).status.ok());
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
  EXPECT_FALSE(TextSource::Open("/", kNoLimit).ok());
}

}  // namespace
}  // namespace kymo::chrome_import
