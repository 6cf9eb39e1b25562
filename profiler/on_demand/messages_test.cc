#include "profiler/on_demand/messages.h"

#include <optional>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace kymo::on_demand {
namespace {

// As PyTorch's client sends it: a size, a type of 32 bytes, a body.
std::string Bytes(std::string size, std::string type, const std::string& body) {
  size.resize(8);
  type.resize(32);
  return size + type + body;
}

TEST(MessagesTest, ARequestHasTheBytesOfKineto) {
  using namespace std::string_literals;
  const std::string body =
      "\x02\0\0\0"s
      "\x03\0\0\0"s
      "\x07\0\0\0\0\0\0\0"s
      "\xd2\x04\0\0"s
      "\x2a\0\0\0"s
      "\x01\0\0\0"s;
  const Request request = {.type = 2, .job = 7, .pids = {1234, 42, 1}};
  EXPECT_EQ(EncodeRequest(request), body);
  EXPECT_EQ(DecodeRequest(body), request);
  EXPECT_EQ(Encode({"req", body}), Bytes("\x1c", "req", body));
  EXPECT_EQ(Decode(Bytes("\x1c", "req", body)), (Message{"req", body}));
}

TEST(MessagesTest, AContextHasTheBytesOfKineto) {
  using namespace std::string_literals;
  const std::string body =
      "\xff\xff\xff\xff"s
      "\xd2\x04\0\0"s
      "\x2a\0\0\0\0\0\0\0"s;
  const Context context = {.gpu = -1, .pid = 1234, .job = 42};
  EXPECT_EQ(EncodeContext(context), body);
  EXPECT_EQ(DecodeContext(body), context);
  EXPECT_EQ(Encode({"ctxt", body}), Bytes("\x10", "ctxt", body));
  EXPECT_EQ(EncodeCount(3), "\x03\0\0\0"s);
}

TEST(MessagesTest, AnEmptyBodyIsAMessage) {
  EXPECT_EQ(Decode(Bytes("", "req", "")), (Message{"req", ""}));
}

TEST(MessagesTest, GarbageIsNoMessage) {
  EXPECT_EQ(Decode(""), std::nullopt);
  EXPECT_EQ(Decode("hello"), std::nullopt);
  EXPECT_EQ(Decode(std::string(39, '\0')), std::nullopt);
  EXPECT_EQ(Decode(Bytes("\x02", "req", "a")), std::nullopt);
  EXPECT_EQ(Decode(Bytes("\x01", "req", "ab")), std::nullopt);
  EXPECT_EQ(Decode(Bytes("", "", "")), std::nullopt);
  EXPECT_EQ(Decode(Bytes("", "r\nq", "")), std::nullopt);
  EXPECT_EQ(Decode(Bytes("", std::string(32, 'x'), "")), std::nullopt);
  EXPECT_EQ(Decode(Bytes("\xff\xff\xff\xff\xff\xff\xff\xff", "req", "")),
            std::nullopt);
}

// Bytes that were changed, cut or added are refused, or are another message.
TEST(MessagesTest, WhatIsReadOfGarbageIsWhatWouldBeSent) {
  const std::string whole = Encode(
      {"req", EncodeRequest({.type = 2, .job = 7, .pids = {1234, 42, 1}})});
  std::vector<std::string> garbled;
  for (size_t i = 0; i < whole.size(); ++i) {
    garbled.push_back(whole.substr(0, i));
    garbled.push_back(whole.substr(i));
    for (int change = 1; change < 256; ++change) {
      garbled.push_back(whole);
      garbled.back()[i] = static_cast<char>(garbled.back()[i] ^ change);
    }
  }
  size_t requests = 0;
  for (const std::string& bytes : garbled) {
    const auto message = Decode(bytes);
    if (!message) continue;
    EXPECT_EQ(Decode(Encode(*message)), message);
    const auto request = DecodeRequest(message->body);
    if (!request) continue;
    ++requests;
    EXPECT_EQ(EncodeRequest(*request), message->body);
  }
  EXPECT_GT(requests, 1000u);
}

TEST(MessagesTest, GarbageIsNoBody) {
  std::string body = EncodeRequest({.pids = {1, 2}});
  EXPECT_EQ(DecodeRequest(body + "x"), std::nullopt);
  body.pop_back();
  EXPECT_EQ(DecodeRequest(body), std::nullopt);
  EXPECT_EQ(DecodeRequest(EncodeRequest({})), std::nullopt);
  body = EncodeRequest({.pids = {1}});
  body.replace(4, 4, "\xff\xff\xff\xff");
  EXPECT_EQ(DecodeRequest(body), std::nullopt);
  EXPECT_EQ(DecodeContext("short"), std::nullopt);
}

}  // namespace
}  // namespace kymo::on_demand
