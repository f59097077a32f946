#include "tools/audit_line.h"

#include <CLI/CLI.hpp>

#include "proof/merkle.h"

namespace karst::tools {
namespace {

void add_signing_key(CLI::App* command, std::string& file, const char* help) {
  command->add_option("--signing-key", file, help)->type_name("FILE");
}

constexpr const char* kSignerHelp = "signs the checkpoint; default: what run --embedded made";

void add_proof(CLI::App* audit, AuditProofOptions& o, std::function<int()>& chosen) {
  CLI::App* head = audit->add_subcommand("checkpoint", "the head of the log's tree, signed");
  add_reading(head, o.data);
  add_signing_key(head, o.signing_key, kSignerHelp);
  head->callback([&] { chosen = [&o] { return audit_checkpoint(o); }; });
  CLI::App* prove = audit->add_subcommand("prove", "that an event is in the log, or that it grew");
  add_reading(prove, o.data);
  add_signing_key(prove, o.signing_key, kSignerHelp);
  prove->add_option("position", o.position, "of the event")->type_name("POSITION|TIME");
  prove->add_option("--from", o.from, "instead: that the log of this size is its beginning")
      ->type_name("SIZE")
      ->check(CLI::Range(std::uint64_t{1}, proof::kTreeSizeMax));
  prove->callback([&] { chosen = [&o] { return audit_prove(o); }; });
  CLI::App* keygen = audit->add_subcommand("keygen", "a new signing key; prints the public one");
  keygen->add_option("--out", o.out, "where the secret goes")->required()->type_name("FILE");
  keygen->add_option("--name", o.name, "whose key it is, such as example.com/karst")
      ->required()
      ->type_name("NAME");
  keygen->callback([&] { chosen = [&o] { return audit_keygen(o); }; });
}

void add_verify(CLI::App* audit, AuditVerifyOptions& v, std::function<int()>& chosen) {
  CLI::App* verify = audit->add_subcommand("verify", "what others exported, without the log");
  verify->add_option("file", v.file, "a trail, a proof, a checkpoint, or a folder of tiles")
      ->required()
      ->type_name("FILE|DIR");
  verify->add_option("--key", v.key, "of the signer: NAME+ID+BASE64, or a file with it")
      ->type_name("PUB");
  verify->add_option("--since", v.since, "a checkpoint that you kept: the log only grew since")
      ->type_name("FILE");
  verify->callback([&] { chosen = [&v] { return audit_verify(v); }; });
}

}  // namespace

void add_audit(CLI::App& app, AuditLine& line, std::function<int()>& chosen) {
  AuditExportOptions& o = line.take;
  CLI::App* audit = app.add_subcommand("audit", "the decision trail")->require_subcommand(1);
  CLI::App* take = audit->add_subcommand("export", "the log in a form that others read");
  add_reading(take, o.data);
  take->add_option("--format", o.format,
                   "jsonl (carries its proof), tiles (the tree's files), and for other tools "
                   "cloudevents, cloudevents-batch, csv, parquet, sqlite")
      ->check(CLI::IsMember(
          {"jsonl", "tiles", "cloudevents", "cloudevents-batch", "csv", "parquet", "sqlite"}))
      ->type_name("FORMAT")
      ->default_str("jsonl");
  take->add_option("--view", o.view, "events, decisions or nodeclaims; default: events")
      ->check(CLI::IsMember({"events", "decisions", "nodeclaims"}))
      ->type_name("VIEW");
  take->add_option("--out", o.out, "where to; default: stdout")->type_name("FILE");
  const char* place = "POSITION|TIME";
  const auto not_empty = [](const std::string& value) {
    return value.empty() ? std::string("is empty; expected a position or a time") : std::string();
  };
  take->add_option("--from", o.filter.from, "first one taken")->type_name(place)->check(not_empty);
  take->add_option("--to", o.filter.to, "last one taken")->type_name(place)->check(not_empty);
  take->add_option("--subject", o.filter.subjects,
                   "only what is about pod/NS/NAME, node/…, nodeclaim/…, nodepool/… or command/ID")
      ->type_name("KIND/NAME");
  take->add_option("--kind", o.filter.kinds,
                   "only event types, or facts, commands, decisions, outcomes, housekeeping")
      ->type_name("KIND")
      ->delimiter(',');
  take->add_option("--redact", o.redact,
                   "withhold payloads of these types and groups, or workloads, all")
      ->type_name("KIND")
      ->delimiter(',');
  add_signing_key(take, o.signing_key, kSignerHelp);
  take->callback([&] { chosen = [&o] { return audit_export(o); }; });
  add_proof(audit, line.proof, chosen);
  add_verify(audit, line.verify, chosen);
}

}  // namespace karst::tools
