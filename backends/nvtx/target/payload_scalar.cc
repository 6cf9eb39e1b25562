#include "backends/nvtx/target/payload_scalar.h"

#include "backends/nvtx/target/nvtx_abi.h"

namespace kymo::nvtx {

Scalar ScalarOf(uint64_t type) noexcept {
  switch (type) {
    case kTypeChar:
    case kTypeChar8:
      return {Form::kCharacter, 1};
    case kTypeUchar:
    case kTypeUint8:
    case kTypeByte:
      return {Form::kUnsigned, 1};
    case kTypeInt8:
      return {Form::kSigned, 1};
    case kTypeShort:
    case kTypeInt16:
      return {Form::kSigned, 2};
    case kTypeUshort:
    case kTypeUint16:
    case kTypeChar16:
      return {Form::kUnsigned, 2};
    case kTypeInt:
    case kTypeInt32:
      return {Form::kSigned, 4};
    case kTypeUint:
    case kTypeUint32:
    case kTypeWchar:
    case kTypeChar32:
    case kTypeCategory:
    case kTypeColor:
    case kTypePid32:
    case kTypeTid32:
      return {Form::kUnsigned, 4};
    case kTypeLong:
    case kTypeLonglong:
    case kTypeInt64:
      return {Form::kSigned, 8};
    case kTypeUlong:
    case kTypeUlonglong:
    case kTypeUint64:
    case kTypeSize:
    case kTypeScopeId:
    case kTypePid64:
    case kTypeTid64:
      return {Form::kUnsigned, 8};
    case kTypeFloat:
    case kTypeFloat32:
      return {Form::kFloat, 4};
    case kTypeDouble:
    case kTypeFloat64:
      return {Form::kFloat, 8};
    case kTypeAddress:
    case kTypeCstring:
    case kTypeCstringUtf8:
    case kTypeRegisteredString:
      return {Form::kAddress, 8};
    default:
      return {};
  }
}

}  // namespace kymo::nvtx
