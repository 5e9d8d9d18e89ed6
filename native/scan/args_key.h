// Which argument a key names, by its length and its bytes.
#pragma once

#include "scan/item.h"

namespace laptime::scan {

template <size_t N>
LAPTIME_INLINE bool same(const char* p, const char (&word)[N]) {
  return memcmp(p, word, N - 1) == 0;
}

LAPTIME_INLINE uint8_t arg_of(const char* k, size_t n) {
  switch (n) {
    case 3:
      if (same(k, "Seq")) return kSeq;
      if (same(k, "src")) return kSrc;
      if (same(k, "dst")) return kDst;
      break;
    case 4:
      if (same(k, "Addr")) return kAddr;
      if (same(k, "kind")) return kCopyKind;
      if (same(k, "name")) return kMetaName;
      break;
    case 5:
      if (same(k, "Bytes")) return kBytes;
      if (same(k, "bytes")) return kBytesLower;
      if (same(k, "dtype")) return kDtype;
      if (same(k, "queue")) return kQueue;
      break;
    case 6:
      if (same(k, "device")) return kDevice;
      if (same(k, "stream")) return kStream;
      if (same(k, "labels")) return kMetaLabels;
      break;
    case 8:
      if (same(k, "graph id")) return kGraphId;
      if (same(k, "Src Rank")) return kSrcRank;
      if (same(k, "Dst Rank")) return kDstRank;
      if (same(k, "event_id")) return kEventId;
      break;
    case 9:
      if (same(k, "Python id")) return kPythonId;
      if (same(k, "Device Id")) return kDeviceId;
      if (same(k, "hsa_queue")) return kHsaQueue;
      break;
    case 10:
      if (same(k, "Group size")) return kGroupSize;
      if (same(k, "sort_index")) return kMetaSortIndex;
      break;
    case 11:
      if (same(k, "External id") || same(k, "external id")) return kExternalId;
      if (same(k, "correlation")) return kCorrelation;
      if (same(k, "Device Type")) return kDeviceType;
      break;
    case 13:
      if (same(k, "graph node id")) return kGraphNodeId;
      if (same(k, "In msg nelems")) return kInMsgNelems;
      break;
    case 14:
      if (same(k, "Total Reserved")) return kTotalReserved;
      if (same(k, "Out msg nelems")) return kOutMsgNelems;
      if (same(k, "wait_on_stream")) return kWaitOnStream;
      if (same(k, "cuda_sync_kind")) return kSyncKind;
      break;
    case 15:
      if (same(k, "Total Allocated")) return kTotalAllocated;
      if (same(k, "Collective name")) return kCollectiveName;
      break;
    case 16:
      if (same(k, "Python parent id")) return kPythonParent;
      break;
    case 17:
      if (same(k, "Global rank start")) return kGlobalRankStart;
      break;
    case 18:
      if (same(k, "Global rank stride")) return kGlobalRankStride;
      if (same(k, "Process Group Name")) return kGroupName;
      break;
    case 19:
      if (same(k, "Process Group Ranks")) return kGroupRanks;
      break;
    case 21:
      if (same(k, "wait_on_cuda_event_id")) return kWaitOnEvent;
      break;
    case 25:
      if (same(k, "Process Group Description")) return kGroupDescription;
      break;
    case 33:
      if (same(k, "wait_on_cuda_event_record_corr_id")) return kWaitOnRecord;
      break;
    default:
      break;
  }
  return kNoArg;
}

}  // namespace laptime::scan
