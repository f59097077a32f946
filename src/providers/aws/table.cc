#include "providers/aws/table.h"

#include <charconv>

#include "base/check.h"

namespace karst::providers::aws {
namespace {

// The table is longer than what every compiler must take; those we build with take it.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Woverlength-strings"
constexpr std::string_view kTable =
#include "providers/aws/data/instance_types.inc"
    ;
#pragma GCC diagnostic pop

// As one account sees them; every account has its own order.
constexpr std::string_view kZoneIds[] = {"use1-az6", "use1-az1", "use1-az2",
                                         "use1-az4", "use1-az3", "use1-az5"};

std::string_view take(std::string_view& text, char separator) {
  const std::size_t end = text.find(separator);
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return word;
}

std::optional<std::int64_t> number(std::string_view text) {
  if (text == "-") return std::nullopt;
  std::int64_t value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  KARST_CHECK(read.ec == std::errc() && read.ptr == text.data() + text.size(),
              "a number in the table of instance types");
  return value;
}

std::string_view maker(std::string_view letter) {
  return letter == "i" ? "intel" : letter == "d" ? "amd" : "aws";
}

std::vector<Accelerator> read_accelerators(std::string_view text) {
  std::vector<Accelerator> all;
  if (text == "-") return all;
  while (!text.empty()) {
    std::string_view one = take(text, ',');
    Accelerator accelerator;
    accelerator.kind = take(one, ':')[0];
    accelerator.name = take(one, ':');
    accelerator.manufacturer = take(one, ':');
    accelerator.count = number(take(one, ':')).value_or(0);
    accelerator.detail = number(one).value_or(0);
    all.push_back(accelerator);
  }
  return all;
}

TypeFacts read_row(std::string_view line) {
  const auto next = [&] { return take(line, ' '); };
  TypeFacts type;
  type.name = next();
  type.cpus = number(next()).value_or(0);
  type.memory_mib = number(next()).value_or(0);
  type.arm = next() == "a";
  type.cpu_maker = maker(next());
  type.clock_mhz = number(next());
  const std::string_view hypervisor = next();
  type.hypervisor = hypervisor == "n" ? "nitro" : hypervisor == "x" ? "xen" : "";
  const std::string_view flags = next();
  const auto has = [&](char letter) { return flags.find(letter) != std::string_view::npos; };
  type.encrypts_in_transit = has('t');
  type.enclaves = has('e');
  type.spot = has('s');
  type.on_demand = has('o');
  type.interfaces = number(next()).value_or(0);
  type.addresses_per_interface = number(next()).value_or(0);
  type.branch_interfaces = number(next()).value_or(0);
  type.efa = number(next()).value_or(0);
  type.ebs_mbps = number(next());
  type.network_mbps = number(next());
  std::string_view storage = next();
  type.nvme = storage != "-" && !storage.ends_with('u');
  if (storage.ends_with('u')) storage.remove_suffix(1);
  type.storage_gb = number(storage).value_or(0);
  type.attachments = number(next()).value_or(0);
  type.price_micros = number(next());
  type.zones = next();
  if (type.zones == "-") type.zones = {};
  type.accelerators = read_accelerators(next());
  const auto read = std::from_chars(line.data(), line.data() + line.size(), type.regions, 16);
  KARST_CHECK(read.ec == std::errc(), "the regions of an instance type");
  return type;
}

}  // namespace

const std::vector<TypeFacts>& type_facts() {
  static const std::vector<TypeFacts> all = [] {
    std::vector<TypeFacts> types;
    std::string_view lines = kTable;
    take(lines, '\n');
    while (!lines.empty())
      if (const std::string_view line = take(lines, '\n'); !line.empty())
        types.push_back(read_row(line));
    return types;
  }();
  return all;
}

const std::vector<std::string_view>& regions() {
  static const std::vector<std::string_view> all = [] {
    std::vector<std::string_view> names;
    std::string_view lines = kTable;
    std::string_view line = take(lines, '\n');
    take(line, ' ');
    while (!line.empty()) names.push_back(take(line, ' '));
    return names;
  }();
  return all;
}

std::string_view zone_id(char letter) {
  return letter < 'a' || letter > 'f' ? std::string_view() : kZoneIds[letter - 'a'];
}

}  // namespace karst::providers::aws
