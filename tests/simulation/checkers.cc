#include "tests/simulation/checkers.h"

#include <algorithm>
#include <map>
#include <utility>

#include "sim/kube_scheduler.h"

namespace karst::simulation {

namespace {

using sim::InstanceRecord;

std::string at(const sim::World& world, std::int64_t millis) {
  return "t+" + std::to_string((millis - world.scenario().start_unix_millis) / 1000) + "s";
}

}  // namespace

// one-instance: at most one instance per (claim uid, attempt), ever.
void check_one_instance_per_attempt(const sim::World& world, std::vector<Violation>& out) {
  std::map<std::pair<std::string, std::uint32_t>, std::string> seen;
  for (const auto& [id, record] : world.history().instances) {
    const auto key = std::pair(record.instance.claim.str(), record.instance.attempt);
    const auto [first, fresh] = seen.emplace(key, id);
    if (!fresh)
      out.push_back({"one-instance", "claim " + key.first + " attempt " +
                                         std::to_string(key.second) + " has " + first->second +
                                         " and " + id});
  }
}

// one-attempt: a claim's next launch is ordered only after the one before has ended, and an attempt
// is ordered once.
void check_one_open_attempt(const LogIndex& log, std::vector<Violation>& out) {
  for (const auto& [claim, attempts] : log.launches) {
    std::uint64_t previous = 0;
    for (const auto& [attempt, orders] : attempts) {
      if (orders.size() > 1)
        out.push_back({"one-attempt", "claim " + claim + " attempt " + std::to_string(attempt) +
                                          " was ordered " + std::to_string(orders.size()) +
                                          " times"});
      if (previous != 0) {
        const CommandLife& before = log.commands.at(previous);
        if (!before.ended || *before.ended > orders.front())
          out.push_back({"one-attempt", "claim " + claim + " attempt " + std::to_string(attempt) +
                                            " at position " + std::to_string(orders.front()) +
                                            " while " + std::to_string(previous) + " is open"});
      }
      previous = orders.back();
    }
  }
}

// intent: every command that reached the world was durable, as that command and attempt, when it
// was submitted.
void check_intent_before_effect(const sim::World& world, const LogIndex& log,
                                std::vector<Violation>& out) {
  for (const sim::SubmissionRecord& submission : world.history().submissions) {
    const std::uint64_t position = submission.command.id.position.value();
    const std::string what =
        std::string(model::command_kind_name(model::kind_of(submission.command.spec))) +
        " of position " + std::to_string(position) + " attempt " +
        std::to_string(submission.command.attempt) + " at " + at(world, submission.at);
    const auto life = log.commands.find(position);
    if (life == log.commands.end() || !(life->second.command.spec == submission.command.spec)) {
      out.push_back({"intent", what + " is not in the log"});
      continue;
    }
    const auto attempt = life->second.attempts.find(submission.command.attempt);
    if (attempt == life->second.attempts.end())
      out.push_back({"intent", what + " was never decided"});
    else if (attempt->second >= submission.durable_end)
      out.push_back({"intent", what + " was sent before it was durable (durable end " +
                                   std::to_string(submission.durable_end) + ")"});
  }
}

// acknowledgement: a message is deleted only after its event is durable.
void check_event_before_acknowledgement(const sim::World& world, const LogIndex& log,
                                        std::vector<Violation>& out) {
  for (const auto& [id, message] : world.history().messages) {
    if (message.acknowledged_at < 0) continue;
    const auto event = log.interruptions.find(id);
    if (event == log.interruptions.end() || event->second >= message.durable_end)
      out.push_back({"acknowledgement", "message " + id + " was acknowledged at " +
                                            at(world, message.acknowledged_at) +
                                            " without a durable event"});
  }
}

namespace {

// The claim of this machine was on its way out, by the log, when the order at `position` was
// decided; or it had no claim.
bool leaving(const sim::World& world, const LogIndex& log, const InstanceRecord& record,
             std::uint64_t position, std::int64_t when) {
  const auto claim = world.history().claims.find(record.instance.claim.str());
  if (claim == world.history().claims.end()) return true;
  if (claim->second.deleting_at >= 0 && claim->second.deleting_at <= when) return true;
  const auto request = log.delete_requests.find(claim->second.name.str());
  return request != log.delete_requests.end() && request->second < position;
}

}  // namespace

// limits: what really runs for a pool, machines on their way out apart, stays within its limits
// whenever one is added.
void check_limits(const sim::World& world, const LogIndex& log, std::vector<Violation>& out) {
  const auto& instances = world.history().instances;
  for (const auto& [id, added] : instances) {
    const auto pool = world.api().pools().find(added.pool.str());
    if (pool == world.api().pools().end() || pool->second.limits.empty() || added.late) continue;
    model::Resources total;
    std::int64_t nodes = 0;
    for (const auto& [other_id, other] : instances) {
      const bool runs = other.launched_at <= added.launched_at &&
                        (other.gone_at < 0 || other.gone_at > added.launched_at);
      if (other.pool != added.pool || !runs || other.late) continue;
      if (other_id != id && leaving(world, log, other, added.command.value(), added.launched_at))
        continue;
      total += other.instance.capacity;
      ++nodes;
    }
    for (const auto& [resource, limit] : pool->second.limits) {
      const std::int64_t used = resource == "nodes" ? nodes : total.amount(resource);
      if (used > limit)
        out.push_back({"limits", "pool " + added.pool.str() + " has " + std::to_string(used) + " " +
                                     resource + " of " + std::to_string(limit) + " at " +
                                     at(world, added.launched_at) + " with " + id});
    }
  }
}

// heeded: a claim whose machine is about to be taken is given up within a second of the notice.
void check_interruptions_heeded(const LogIndex& log, std::vector<Violation>& out) {
  constexpr std::int64_t kHeedMillis = 1'000;
  constexpr std::int64_t kListingMillis = 60'000;  // a fresh process lists the world before it acts
  for (const auto& [provider_id, noticed] : log.notices) {
    const auto claim = log.claim_of.find(provider_id);
    const auto name =
        claim == log.claim_of.end() ? log.name_of.end() : log.name_of.find(claim->second);
    if (name == log.name_of.end()) continue;
    const std::int64_t known = std::max(noticed, log.answered.at(provider_id));
    const bool starting =
        std::any_of(log.starts.begin(), log.starts.end(), [&](std::int64_t start) {
          return start > known - kListingMillis && start < known + kListingMillis;
        });
    const auto given_up = log.given_up.find(name->second);
    const bool heeded = given_up != log.given_up.end() && given_up->second <= known + kHeedMillis;
    if (!starting && !heeded)
      out.push_back({"heeded", "machine " + provider_id + " of claim " + name->second +
                                   " is taken back, and nothing was done within a second"});
  }
}

// budgets: of a pool with a fixed number in its budget, no more nodes are being emptied at once
// than that.
void check_nothing_new_while_full(const LogIndex& log, std::vector<Violation>& out) {
  for (const std::uint64_t position : log.started_while_full)
    out.push_back({"disk full", "position " + std::to_string(position) +
                                    " starts something new while the disk of the log is full"});
}

void check_budgets(const sim::World& world, const LogIndex& log, std::vector<Violation>& out) {
  std::map<std::string, const sim::ClaimRecord*> by_name;
  for (const auto& [uid, record] : world.history().claims) by_name[record.name.str()] = &record;
  const auto request_of = [&](const sim::ClaimRecord& record) {
    const auto at = log.delete_requests.find(record.name.str());
    return at == log.delete_requests.end() ? nullptr : &log.commands.at(at->second);
  };
  for (const auto& [name, position] : log.delete_requests) {
    const CommandLife& request = log.commands.at(position);
    const auto record = by_name.find(name);
    if (request.command.reason != "empty" || record == by_name.end()) continue;
    const auto pool = world.api().pools().find(record->second->pool.str());
    if (pool == world.api().pools().end() || pool->second.budgets.empty()) continue;
    const std::string& nodes = pool->second.budgets.front().nodes;
    if (nodes.ends_with('%')) continue;
    std::int64_t leaving = 0;
    for (const auto& [uid, other] : world.history().claims) {
      const CommandLife* asked = request_of(other);
      if (other.pool == record->second->pool && asked != nullptr &&
          asked->command.reason == "empty" && asked->log_millis <= request.log_millis &&
          (other.removed_at < 0 || other.removed_at > request.log_millis))
        ++leaving;
    }
    if (leaving > std::stoll(nodes))
      out.push_back({"budgets", std::to_string(leaving) + " empty nodes of pool " + pool->first +
                                    " leave at " + at(world, request.log_millis) +
                                    ", its budget is " + nodes});
  }
}

namespace {

// A disruption budget keeps a pod on this claim's node, so that its drain rightly waits.
bool drain_waits(const sim::World& world, const model::NodeClaim& claim) {
  const sim::NodeEntry* node = world.api().node_of(claim.provider_id);
  return node != nullptr &&
         std::any_of(node->pods.begin(), node->pods.end(), [&](const std::string& uid) {
           return !world.may_evict(*world.api().pod(uid));
         });
}

}  // namespace

// orphans: every machine that runs at the end belongs to a claim that stays, and every launched
// claim has its machine.
void check_no_orphans(const sim::World& world, std::vector<Violation>& out) {
  std::map<std::string, const model::NodeClaim*> claims;
  for (const auto& [name, claim] : world.api().claims()) claims[claim.uid.str()] = &claim;
  std::map<std::string, int> machines_of;
  for (const auto& [id, machine] : world.machines().machines()) {
    if (!machine.alive()) continue;
    ++machines_of[machine.instance.claim.str()];
    if (!claims.contains(machine.instance.claim.str()))
      out.push_back({"orphans", "machine " + id + " runs, launched " +
                                    at(world, machine.instance.launch_millis) + ", but its claim " +
                                    machine.instance.claim.str() + " is gone"});
  }
  for (const auto& [uid, claim] : claims) {
    if (claim->deletion_millis != 0 && drain_waits(world, *claim)) continue;
    if (claim->deletion_millis != 0)
      out.push_back({"orphans", "claim " + claim->name.str() + " is being deleted since " +
                                    at(world, claim->deletion_millis)});
    else if (!claim->provider_id.empty() && machines_of[uid] == 0)
      out.push_back({"orphans", "claim " + claim->name.str() + " says " + claim->provider_id.str() +
                                    ", but no machine runs for it"});
    if (machines_of[uid] > 1)
      out.push_back({"orphans", "claim " + claim->name.str() + " has " +
                                    std::to_string(machines_of[uid]) + " machines"});
  }
  for (const auto& [name, entry] : world.api().nodes()) {
    const auto machine = world.machines().machines().find(entry.node.provider_id.str());
    if (machine == world.machines().machines().end() || !machine->second.alive())
      out.push_back({"orphans", "node " + name + " has no machine"});
  }
}

// messages: nothing is left in the queue.
void check_messages_consumed(const sim::World& world, std::vector<Violation>& out) {
  for (const auto& [id, message] : world.history().messages)
    if (message.acknowledged_at < 0)
      out.push_back({"messages", "message " + id + " of " + at(world, message.sent_at) +
                                     " was never acknowledged"});
}

// quiet: with no new input commands end, and none is left open.
void check_commands_end(const sim::World& world, const LogIndex& log, std::vector<Violation>& out) {
  const std::int64_t quiet_from = world.now() - kQuietMillis;
  std::size_t told = 0;
  for (const auto& [position, life] : log.commands) {
    const std::string what =
        std::string(model::command_kind_name(model::kind_of(life.command.spec))) + " " +
        model::subject_of(life.command.spec) + " (" + life.command.rule + ", " +
        life.command.reason + ") at position " + std::to_string(position) + ", " +
        at(world, life.log_millis);
    if (!life.ended)
      out.push_back({"quiet", what + " is still open"});
    else if (life.log_millis >= quiet_from && !life.blocked && ++told <= 3)
      out.push_back({"quiet", what + " although nothing has changed for long"});
  }
}

namespace {

// Some pool could still make a machine that would take this pod.
bool placeable(const sim::World& world, const sim::PodEntry& pod) {
  model::Resources daemons;
  for (const auto& [uid, daemon] : world.api().daemon_sets())
    daemons += world.api().shape_of(daemon.shape)->requests;
  for (const auto& [name, pool] : world.api().pools()) {
    if (model::first_untolerated(pool.taints, pod.shape->tolerations) != nullptr) continue;
    model::Resources used;
    std::int64_t nodes = 0;
    for (const auto& [id, machine] : world.machines().machines())
      if (machine.alive() && machine.pool.str() == name) {
        used += machine.instance.capacity;
        ++nodes;
      }
    for (const model::InstanceType& type : world.scenario().catalogue.types) {
      const bool within =
          std::all_of(pool.limits.begin(), pool.limits.end(), [&](const auto& limit) {
            return limit.first == "nodes"
                       ? nodes + 1 <= limit.second
                       : used.amount(limit.first) + type.capacity.amount(limit.first) <=
                             limit.second;
          });
      if (!within || !model::fits(pod.shape->requests + daemons, type.allocatable)) continue;
      for (const model::Offering& offering : type.offerings) {
        model::Labels labels = pool.template_labels;
        for (const model::RequirementSpec& spec : type.requirements)
          if (spec.values.size() == 1) model::set_label(labels, spec.key, spec.values[0]);
        model::set_label(labels, model::kZoneLabel, offering.zone);
        model::set_label(labels, model::kCapacityTypeLabel, offering.capacity_type);
        const bool in_pool =
            std::all_of(pool.requirements.begin(), pool.requirements.end(),
                        [&](const auto& spec) { return sim::matches(spec, labels); });
        if (in_pool && sim::selects(*pod.shape, labels)) return true;
      }
    }
  }
  return false;
}

}  // namespace

// bound: every pod that could be placed is.
void check_pods_bound(const sim::World& world, std::vector<Violation>& out) {
  for (const std::string& uid : world.api().unbound()) {
    const sim::PodEntry& pod = *world.api().pod(uid);
    if (placeable(world, pod))
      out.push_back({"bound", "pod " + pod.pod.name + " (" + uid + ") of " +
                                  at(world, pod.pod.creation_millis) +
                                  " is pending although a machine could be had for it"});
  }
}

std::vector<Violation> check_all(const sim::World& world, const LogIndex& log) {
  std::vector<Violation> out;
  check_one_instance_per_attempt(world, out);
  check_one_open_attempt(log, out);
  check_intent_before_effect(world, log, out);
  check_event_before_acknowledgement(world, log, out);
  check_limits(world, log, out);
  check_interruptions_heeded(log, out);
  check_nothing_new_while_full(log, out);
  check_budgets(world, log, out);
  check_no_orphans(world, out);
  check_messages_consumed(world, out);
  check_commands_end(world, log, out);
  check_pods_bound(world, out);
  return out;
}

}  // namespace karst::simulation
