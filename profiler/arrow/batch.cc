#include "profiler/arrow/batch.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace kymo::arrow {
namespace {

// What an empty buffer points to, since some readers take no null.
constexpr int64_t kNothing = 0;

const char* FormatOf(Type type) {
  switch (type) {
    case Type::kNull:
      return "n";
    case Type::kBool:
      return "b";
    case Type::kInt64:
      return "l";
    case Type::kDouble:
      return "g";
    case Type::kText:
      break;
  }
  return "u";
}

// As the interface wants it: the number of pairs, then each text behind its
// size.
std::string MetadataBytes(const TableSchema& schema) {
  std::string bytes;
  const auto append_number = [&](size_t number) {
    const auto value = static_cast<int32_t>(number);
    bytes.append(reinterpret_cast<const char*>(&value), sizeof(value));
  };
  append_number(schema.metadata.size());
  for (const auto& [key, value] : schema.metadata) {
    for (const std::string& text : {key, value}) {
      append_number(text.size());
      bytes += text;
    }
  }
  return bytes;
}

// What a schema of ours points to.
struct SchemaState {
  std::string name;
  std::string metadata;
  std::vector<Schema> child_structs;
  std::vector<Schema*> children;
};

template <typename Struct>
void ReleaseChildren(Struct* self) {
  for (int64_t i = 0; i < self->n_children; ++i) {
    Struct* const child = self->children[i];
    if (child->release != nullptr) child->release(child);
  }
}

void ReleaseSchema(Schema* self) {
  ReleaseChildren(self);
  delete static_cast<SchemaState*>(self->private_data);
  self->release = nullptr;
}

struct ArrayState {
  std::shared_ptr<const Batch> batch;
  std::array<const void*, 3> buffers = {};
  std::vector<Array> child_structs;
  std::vector<Array*> children;
};

void ReleaseArray(Array* self) {
  ReleaseChildren(self);
  delete static_cast<ArrayState*>(self->private_data);
  self->release = nullptr;
}

template <typename T>
const void* BufferOf(const T& values) {
  return values.empty() ? static_cast<const void*>(&kNothing) : values.data();
}

// Sets `state`'s buffers and returns how many there are.
int64_t SetBuffers(Type type, const Values& values, ArrayState& state) {
  if (type == Type::kNull) return 0;
  state.buffers[0] =
      values.validity.empty() ? nullptr : BufferOf(values.validity);
  switch (type) {
    case Type::kBool:
      state.buffers[1] = BufferOf(values.bits);
      return 2;
    case Type::kInt64:
      state.buffers[1] = BufferOf(values.ints);
      return 2;
    case Type::kDouble:
      state.buffers[1] = BufferOf(values.doubles);
      return 2;
    case Type::kNull:
    case Type::kText:
      break;
  }
  state.buffers[1] = BufferOf(values.offsets);
  state.buffers[2] = BufferOf(values.bytes);
  return 3;
}

// `state` is from now on the array's.
void SetArray(std::unique_ptr<ArrayState> state, Array* out) {
  *out = {.length = static_cast<int64_t>(state->batch->rows),
          .n_children = static_cast<int64_t>(state->children.size()),
          .buffers = state->buffers.data(),
          .children = state->children.data(),
          .release = ReleaseArray};
  out->private_data = state.release();
}

void ExportColumn(const Field& field, size_t column,
                  const std::shared_ptr<const Batch>& batch, Array* out) {
  auto state = std::make_unique<ArrayState>();
  state->batch = batch;
  const Values& values = batch->columns[column];
  const int64_t buffers = SetBuffers(field.type, values, *state);
  SetArray(std::move(state), out);
  out->n_buffers = buffers;
  out->null_count = static_cast<int64_t>(
      field.type == Type::kNull ? batch->rows : values.null_count);
}

void ExportField(const Field& field, Schema* out) {
  auto state = std::make_unique<SchemaState>();
  state->name = field.name;
  *out = {.format = FormatOf(field.type),
          .name = state->name.c_str(),
          .flags = field.is_nullable ? kNullable : 0,
          .release = ReleaseSchema};
  out->private_data = state.release();
}

// Releases the structures that were made, unless told not to.
template <typename Struct>
class ReleaseOnError {
 public:
  explicit ReleaseOnError(std::vector<Struct>& made) : made_(&made) {}
  ReleaseOnError(const ReleaseOnError&) = delete;
  ReleaseOnError& operator=(const ReleaseOnError&) = delete;
  ~ReleaseOnError() {
    if (made_ == nullptr) return;
    for (Struct& each : *made_) {
      if (each.release != nullptr) each.release(&each);
    }
  }
  void Keep() { made_ = nullptr; }

 private:
  std::vector<Struct>* made_;
};

}  // namespace

Column<uint8_t> PackBits(std::span<const uint8_t> bytes) {
  Column<uint8_t> bits((bytes.size() + 7) / 8);
  size_t i = 0;
  for (; i + 8 <= bytes.size(); i += 8) {
    uint64_t eight;
    std::memcpy(&eight, &bytes[i], sizeof(eight));
    // Gathers the lowest bit of each byte in the highest byte.
    bits[i / 8] = static_cast<uint8_t>(eight * 0x0102040810204080u >> 56);
  }
  if (i < bytes.size()) bits[i / 8] = 0;
  for (; i < bytes.size(); ++i) {
    bits[i / 8] |= static_cast<uint8_t>(bytes[i] << (i % 8));
  }
  return bits;
}

void SetValidity(std::span<const uint8_t> is_valid, Values& values) {
  values.null_count =
      static_cast<size_t>(std::ranges::count(is_valid, uint8_t{0}));
  if (values.null_count != 0) values.validity = PackBits(is_valid);
}

void ExportSchema(const TableSchema& schema, Schema* out) {
  auto state = std::make_unique<SchemaState>();
  state->child_structs.resize(schema.fields.size());
  state->children.reserve(schema.fields.size());
  if (!schema.metadata.empty()) state->metadata = MetadataBytes(schema);
  ReleaseOnError<Schema> guard(state->child_structs);
  for (size_t i = 0; i < schema.fields.size(); ++i) {
    ExportField(schema.fields[i], &state->child_structs[i]);
    state->children.push_back(&state->child_structs[i]);
  }
  guard.Keep();
  *out = {
      .format = "+s",
      .name = "",
      .metadata = state->metadata.empty() ? nullptr : state->metadata.data(),
      .n_children = static_cast<int64_t>(state->children.size()),
      .children = state->children.data(),
      .release = ReleaseSchema};
  out->private_data = state.release();
}

void ExportBatch(std::span<const Field> fields,
                 std::shared_ptr<const Batch> batch, Array* out) {
  auto state = std::make_unique<ArrayState>();
  state->batch = std::move(batch);
  state->child_structs.resize(fields.size());
  state->children.reserve(fields.size());
  ReleaseOnError<Array> guard(state->child_structs);
  for (size_t i = 0; i < fields.size(); ++i) {
    ExportColumn(fields[i], i, state->batch, &state->child_structs[i]);
    state->children.push_back(&state->child_structs[i]);
  }
  guard.Keep();
  SetArray(std::move(state), out);
  out->n_buffers = 1;  // no row is null
}

}  // namespace kymo::arrow
