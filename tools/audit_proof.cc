// `audit checkpoint`, `audit prove` and `audit keygen`.
#include <fmt/format.h>

#include "daemon/signing_key.h"
#include "proof/consistency.h"
#include "tools/audit_tree.h"
#include "tools/talk.h"

namespace karst::tools {
namespace {

struct Head {
  std::unique_ptr<LogTree> tree;
  std::string checkpoint;
  std::string key;
};

base::Result<Head> head_of(const AuditProofOptions& options, const ReadLog& log) {
  auto key = signer_of(options.signing_key, options.data, log->id());
  if (!key) return base::fail(key.error());
  auto tree = tree_of(log, options.data);
  if (!tree) return base::fail(tree.error());
  KARST_TRY(refuse_damaged(log, "a checkpoint"));
  const proof::Checkpoint head{proof::origin_of(log->id()), (*tree)->size, (*tree)->root};
  const proof::SignerKey* signer = *key ? &**key : nullptr;
  return Head{std::move(*tree), checkpoint_bytes(head, signer),
              signer == nullptr ? "" : signer->verifier().text()};
}

base::Status prove_growth(const AuditProofOptions& options, const ReadLog& log) {
  auto head = head_of(options, log);
  if (!head) return base::fail(head.error());
  auto path = proof::consistency_proof(*head->tree, options.from, head->tree->size);
  if (!path) return base::fail(path.error().with_context("--from"));
  // The hashes of the old tree are all among those of the new one, but its partial tiles are not:
  // a tile that has more by now answers with its beginning.
  auto old_root = proof::tree_root(*head->tree, options.from);
  if (!old_root) return base::fail(old_root.error());
  proof::ConsistencyProof growth;
  growth.log = log->id().str();
  growth.old_size = options.from;
  growth.old_root = *old_root;
  growth.path = std::move(*path);
  growth.checkpoint = head->checkpoint;
  growth.key = head->key;
  print_line(consistency_line(growth));
  return {};
}

}  // namespace

int audit_checkpoint(const AuditProofOptions& options) {
  auto log = open_for_reading(options.data);
  if (!log) return report(log.error());
  auto head = head_of(options, *log);
  if (!head) return finish(*log, report(head.error()));
  if (head->key.empty())
    fmt::print(stderr,
               "karst: not signed, for want of a key; --signing-key FILE is the one of 'karst "
               "run'\n");
  print_text(head->checkpoint);
  return finish(*log, kExitDone);
}

int audit_prove(const AuditProofOptions& options) {
  if (options.position.empty() == (options.from == 0))
    return report({base::Kind::kInvalid,
                   "audit prove: expected either a POSITION (that its event is in the log) or "
                   "--from SIZE (that the log of that size only grew)"});
  if (options.from == 0) {
    // A trail of one event.
    AuditExportOptions trail;
    trail.data = options.data;
    trail.signing_key = options.signing_key;
    auto log = open_for_reading(options.data);
    if (!log) return report(log.error());
    auto place = parse_place(**log, options.position, "POSITION");
    if (!place) return finish(*log, report(place.error()));
    trail.filter.from = trail.filter.to = std::to_string(place->value());
    trail.recorded_as = "audit prove " + trail.filter.from;
    return audit_export_jsonl(trail);
  }
  auto log = open_for_reading(options.data);
  if (!log) return report(log.error());
  record_access(options.data, "audit prove --from " + std::to_string(options.from));
  auto status = prove_growth(options, *log);
  return finish(*log, status ? kExitDone : report(status.error()));
}

int audit_keygen(const AuditProofOptions& options) {
  if (!proof::good_key_name(options.name))
    return report(
        {base::Kind::kInvalid,
         fmt::format("--name '{}': a key's name has no blanks and no '+'", options.name)});
  auto key = daemon::make_signing_key(options.out, options.name);
  if (!key) return report(key.error());
  print_line(key->verifier().text());
  return kExitDone;
}

}  // namespace karst::tools
