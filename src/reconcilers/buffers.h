// CapacityBuffers: room that is kept free for pods that may come. They are put to the solver as
// pods of the lowest priority behind those that there are; nobody nominates them, nobody says why
// they found no place, and they are there again in every pass. Only while their gate is on.
#pragma once

#include <set>

#include "reconcilers/queries.h"
#include "scheduling/problem.h"

namespace karst::reconcilers {

inline constexpr std::int64_t kBufferPodsMax = 10'000;      // of one buffer
inline constexpr std::int64_t kBufferEveryMillis = 30'000;  // between two looks at them alone

// What a buffer stands for now.
struct BufferRoom {
  std::string fault;  // why it stands for nothing: the reason of a condition; empty: it is resolved
  std::string message;
  const model::PodShape* shape = nullptr;  // of one of its pods; the state's
  const model::Labels* labels = nullptr;
  std::int64_t pods = 0;
};
BufferRoom room_of(const ClusterState& state, const model::CapacityBuffer& buffer);

// The subject of what is said of it.
std::string buffer_subject(const model::CapacityBuffer& buffer);

// Whether some buffer asks for anything.
bool any_buffers(const ClusterState& state);

// Whether provisioning is to reckon with them now: there are some, and no claim is on its way to
// its machine, whose room nobody knows yet.
bool buffers_count(const ClusterState& state, const Context& context);

// Whether they are to be looked at although no pod asks for a place: kBufferEveryMillis after the
// last pass, or when a hold ends. Asks for a wake-up.
bool buffers_due(const ClusterState& state, const Context& context, Plan& plan);

// Adds them behind the problem's pods.
void add_buffers(const ClusterState& state, scheduling::Problem& problem);

// Where the pass found its room, as a verdict of each buffer, the reason of its condition
// Provisioning. `group`: of the first buffer in the problem.
inline constexpr std::string_view kFitsExisting = "FitsExistingCapacity";
inline constexpr std::string_view kRequiresNew = "RequiresNewCapacity";
void say_where_buffers_are(const ClusterState& state, Plan& plan, std::size_t group,
                           const scheduling::Answer& answer);

// Nodes that are not needless, because a buffer's room is on them.
std::set<model::NodeName> buffer_hosts(const ClusterState& state, const Context& context);

}  // namespace karst::reconcilers
