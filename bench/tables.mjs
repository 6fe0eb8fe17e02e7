// The comparison as Markdown: a table for one run at a time, a table for many at once, and what each engine
// was set to. Figures are medians over the rounds.

const LEGEND =
  "CPU is processor time for one step, of all processes of an engine: servers, workflow, and callers. " +
  "fdatasync is what one took on the bare disk just before, the median where there were several measurements.";

/** @param {object} comparison what `compare.mjs` writes as JSON */
export function tables(comparison) {
  const measured = [];
  const failures = [];
  for (const { name, title } of comparison.rounds[0]) {
    const all = comparison.rounds.map((engines) => engines.find((engine) => engine.name === name));
    const rounds = all.filter((round) => round.results);
    if (rounds.length > 0) measured.push({ title, rounds });
    const failed = all.find((round) => round.not_measured);
    if (failed) failures.push(`- ${title}: not measured: ${oneLine(failed.not_measured)}`);
  }
  const inFlight = measured[0]?.rounds[0].results.map((result) => result.in_flight) ?? [];
  const many = inFlight.filter((runs) => runs > 1);
  const parts = [
    heading(comparison),
    inFlight.includes(1) && alone(measured),
    many.length > 0 && together(measured, many),
    measured.length > 0 && `${LEGEND}\n\n${setups(measured)}`,
    failures.join("\n"),
  ];
  return `${parts.filter(Boolean).join("\n\n")}\n`;
}

function heading({ date, command, machine, seconds, rounds }) {
  const often = rounds.length === 1 ? "" : `, medians of ${rounds.length} rounds`;
  const { cores, cpu, memory_gib: memory, system, node } = machine;
  return (
    `Runs of ten steps of 100 bytes, ${seconds} s for each figure${often}, ` +
    `by \`${command}\` on ${date.slice(0, 10)}: ` +
    `${cores} cores (${cpu}), ${memory} GiB, ${system}, Node ${node}.`
  );
}

function alone(engines) {
  const columns = ["one run at a time", "p50", "p99", "steps/s", "CPU", "fdatasync"];
  const rows = engines.map((engine) => [
    engine.title,
    millis(figure(engine, 1, "run_p50_ms")),
    millis(figure(engine, 1, "run_p99_ms")),
    whole(figure(engine, 1, "steps_per_second")),
    micros(figure(engine, 1, "cpu_us_per_step")),
    micros(figure(engine, 1, "fdatasync_us")),
  ]);
  return markdown(columns, rows);
}

function together(engines, inFlight) {
  const columns = ["runs in flight", ...inFlight.flatMap((runs) => [`${whole(runs)}: steps/s`, "CPU"]), "fdatasync"];
  const rows = engines.map((engine) => [
    engine.title,
    ...inFlight.flatMap((runs) => [
      whole(figure(engine, runs, "steps_per_second")),
      micros(figure(engine, runs, "cpu_us_per_step")),
    ]),
    micros(median(inFlight.map((runs) => figure(engine, runs, "fdatasync_us")))),
  ]);
  return markdown(columns, rows);
}

function setups(engines) {
  const listed = (object) => Object.entries(object).map(([key, value]) => `${key} ${value}`).join("; ");
  const rows = engines.map(({ title, rounds: [{ versions, settings, guarantee }] }) => [
    title,
    listed(versions),
    listed(settings),
    guarantee,
  ]);
  return markdown(["engine", "versions", "settings", "is a step durable before the next one runs?"], rows, "---");
}

function figure({ rounds }, inFlight, name) {
  return median(rounds.map(({ results }) => results.find((result) => result.in_flight === inFlight)?.[name]));
}

function median(values) {
  const sorted = values.filter((value) => value != null).sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** Columns of figures are aligned to the right. */
function markdown(columns, rows, alignment = "---:") {
  const line = (cells) => `| ${cells.map((cell) => String(cell).replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(columns), line(["---", ...columns.slice(1).map(() => alignment)]), ...rows.map(line)].join("\n");
}

const whole = (number) => formatted(number, 0);
const millis = (number) => formatted(number, number < 10 ? 2 : 1, " ms");
const micros = (number) => formatted(number, number < 10 ? 1 : 0, " µs");

function formatted(number, digits, unit = "") {
  if (!Number.isFinite(number)) return "–";
  return number.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits }) + unit;
}

function oneLine(text) {
  return text.split("\n").map((line) => line.trim()).filter(Boolean).join(" · ");
}
