// Writes the results of a run as the tables of docs/reference/conformance.md.

const KINDS = ['PASSED', 'REVIEW', 'WARNING', 'SKIPPED', 'FAILED']
/** Words for the number of modules with each result. */
const COUNTED = {
  PASSED: 'passed',
  REVIEW: 'to review',
  WARNING: 'with a warning',
  SKIPPED: 'skipped',
  FAILED: 'failed',
}

export function writeInto(document, results) {
  return replacePart(document, results.tested, tablesOf(results))
}

export function writeChecksInto(document, { version, spec, date, checks }) {
  const rows = checks.map(({ id, status, description }) => [
    `\`${id}\``,
    capital(status),
    description ?? '',
  ])
  const head = ['Check', 'Result', '']
  const when = `Package ${version}, MCP ${spec}, ${date}.`
  return replacePart(document, 'mcp', `${when}\n\n${table(head, rows)}`)
}

/** Replaces the text between two marks. */
function replacePart(document, name, text) {
  const [begin, end] = [`<!-- begin: ${name} -->`, `<!-- end: ${name} -->`]
  const [before, rest] = document.split(begin)
  const after = rest?.split(end)[1]
  if (after === undefined) throw new Error(`The report has no place for these results: ${begin}`)
  return `${before}${begin}\n\n${text}\n${end}${after}`
}

function tablesOf({ tested, version, date, plans }) {
  const head = ['Plan', 'Variant', 'Modules', ...KINDS.map(capital)]
  const rows = plans.map(({ name, variant, modules }) => [
    `[\`${name}\`](#${anchorOf({ name, variant }, tested)})`,
    variantOf(variant),
    modules.length === 1 ? '1 module' : `${modules.length} modules`,
    ...KINDS.map((kind) => {
      const count = modules.filter(({ result }) => result === kind).length
      return count === 0 ? '' : `${count} ${COUNTED[kind]}`
    }),
  ])
  const parts = plans.map(
    (plan) =>
      `### ${titleOf(plan, tested)}\n\n${table(
        ['Module', 'Result', ''],
        plan.modules.map(({ name, result, remark }) => [`\`${name}\``, capital(result), remark]),
      )}`,
  )
  return `Suite ${version}, ${date}.\n\n${[table(head, rows), ...parts].join('\n')}`
}

function titleOf({ name, variant }, tested) {
  const words = variantOf(variant)
  return [`${name} against the ${tested}`, ...(words === '' ? [] : [words])].join(', ')
}

function anchorOf(plan, tested) {
  return titleOf(plan, tested)
    .toLowerCase()
    .replace(/[^\w -]/g, '')
    .replaceAll(' ', '-')
}

/** Variant parameters that distinguish the runs of one plan. */
const WORDS = {
  static_client: 'pre-registered clients',
  dynamic_client: 'dynamically registered clients',
  fapi_client_credentials_grant: 'client credentials',
  plain_oauth: 'plain OAuth 2.0',
  openid_connect: 'OpenID Connect',
}

function variantOf({ client_registration: registration, fapi_profile: profile, openid }) {
  return WORDS[registration] ?? WORDS[profile] ?? WORDS[openid] ?? ''
}

const capital = (word) => word[0] + word.slice(1).toLowerCase()

function table(head, rows) {
  const line = (cells) =>
    `| ${cells.map((cell) => String(cell).replaceAll('|', '\\|')).join(' | ')} |`
  return `${[line(head), `|${head.map(() => '---').join('|')}|`, ...rows.map(line)].join('\n')}\n`
}
