import { fileURLToPath } from 'node:url'
import { formatTable } from './format-table.mjs'
import { isDisturbed } from './measure.mjs'
import { flatTarget, ofBareTarget, openidPeers, servers, verifiers } from './rows.mjs'

const root = fileURLToPath(new URL('../', import.meta.url))

const titles = {
  'fastify-jwt': '@fastify/jwt',
  'express-jwt': 'express-oauth2-jwt-bearer',
}

/** Formats all results as one page of text. */
export function formatReport(results) {
  const notes = []
  const sections = [
    formatRows('token endpoints', results.servers, servers, notes),
    formatRows('guarded routes', results.guarded, verifiers, notes),
    formatOpenid(results.openid, notes),
    formatTails('token endpoints', results.servers, servers),
    formatTails('guarded routes', results.guarded, verifiers),
    formatTails('OpenID Connect', results.openid, openidPeers),
    results.frameworks && formatFrameworks(results.frameworks, notes),
    results.flatness && formatFlatness(results.flatness, notes),
  ]
  return [describeRun(results), ...sections.filter(Boolean), [...new Set(notes)].join('\n')].join(
    '\n\n',
  )
}

function describeRun({ machine, minutes, byProcessor, data, before }) {
  const pinned = machine.pinned ? 'the server on a core of its own' : 'no core of its own'
  const measure = byProcessor ? 'processor time' : 'requests a second'
  return `Parts of the bare HTTP floor (${measure}), medians of interleaved rounds, 32 connections, ${pinned}.
${machine.cpu} (${machine.arch}), ${machine.cores} cores, Node ${machine.node}; ${minutes.toFixed(1)} minutes.
${describeData(data)}${
  before ? `\n\`before\` is commit ${before}; \`/before\` is Tollgate as times that.` : ''
}`
}

/** Every server commits durably (`fsync`, `synchronous=FULL`); what that costs depends on the place. */
function describeData({ folder, inMemory }) {
  const place = folder.startsWith(root) ? folder.slice(root.length) : folder
  const cost = inMemory ? 'in memory, where fsync costs nothing' : 'on a disk'
  return `Databases in ${place}, ${cost}: Postgres with fsync=on, SQLite with synchronous=FULL.`
}

/** The slowest hundredth of each subject, in milliseconds, with all connections busy. */
function formatTails(title, results, peers) {
  if (results.length === 0) return null
  const columns = ['floor', 'limit', ...peers, 'tollgate', 'before'].filter((column) =>
    results.some(({ cells }) => cells[column]),
  )
  const named = { ...titles, tollgate: 'Tollgate' }
  const header = [`99th percentile, ms: ${title}`, ...columns.map((each) => named[each] ?? each)]
  const body = results.map(({ row, cells }) => [
    row.label,
    ...columns.map((column) => formatMilliseconds(cells[column]?.p99)),
  ])
  return formatTable(header, body)
}

function formatMilliseconds(value) {
  if (value === undefined || Number.isNaN(value)) return ''
  return value >= 100 ? value.toFixed(0) : value.toFixed(1)
}

function formatRows(title, results, peers, notes) {
  if (results.length === 0) return null
  const isBeside = results.some(({ cells }) => cells.before)
  const header = [
    title,
    'floor/s',
    'limit',
    ...peers.map((peer) => titles[peer] ?? peer),
    'Tollgate',
    ...(isBeside ? ['before', '/before'] : []),
    '/limit',
    '/peer',
    'target',
    'ok?',
  ]
  const body = results.map(({ row, cells }) => {
    const { ofLimit, ofPeer, verdict } = judge(row, cells, notes)
    return [
      row.label,
      cells.floor.error ? 'error' : Math.round(cells.floor.perSecond).toString(),
      formatCell(cells.limit, notes, `limit, ${row.label}`),
      ...peers.map((peer) => {
        const text = formatCell(cells[peer], notes, `${peer}, ${row.label}`)
        return peer === 'node-oauth' && row.format !== 'opaque' && cells[peer] ? `${text}°` : text
      }),
      formatCell(cells.tollgate, notes, `Tollgate, ${row.label}`),
      ...(isBeside
        ? [
            formatCell(cells.before, notes, `before, ${row.label}`),
            formatRatio(cells.tollgate?.of?.before),
          ]
        : []),
      formatRatio(ofLimit),
      formatRatio(ofPeer),
      formatTargets(row),
      verdict,
    ]
  })
  if (peers.includes('node-oauth')) notes.push('°  with opaque tokens; the others sign.')
  noteIdle(results, notes)
  return formatTable(header, body)
}

/** Formats the throughput relative to each of the two peers that support OpenID Connect. */
function formatOpenid(results, notes) {
  if (results.length === 0) return null
  const header = [
    'OpenID Connect, Tollgate as times',
    ...openidPeers.map((peer) => titles[peer] ?? peer),
    'target',
    'ok?',
  ]
  const body = results.map(({ row, cells }) => {
    const { tollgate } = cells
    if (tollgate?.error) formatCell(tollgate, notes, `Tollgate, ${row.label}`)
    const times = openidPeers.map((peer) => {
      if (cells[peer]?.error) return formatCell(cells[peer], notes, `${peer}, ${row.label}`)
      return formatRatio(tollgate?.of?.[peer])
    })
    const measured = row.peers.flatMap((peer) => tollgate?.of?.[peer] ?? [])
    const worst = measured.length > 0 ? Math.min(...measured) : 0
    return [row.label, ...times, formatRatio(row.ofPeer), row.ofPeer ? judgeTimes(worst, row) : '']
  })
  return formatTable(header, body)
}

const judgeTimes = (worst, { ofPeer }) => (worst >= ofPeer ? 'yes' : 'no')

const formatTargets = ({ target, ofLimit, ofPeer }) =>
  [
    target && formatRatio(target),
    ofLimit && `/limit ${formatRatio(ofLimit)}`,
    ofPeer && `/peer ${formatRatio(ofPeer)}`,
  ]
    .filter(Boolean)
    .join(', ')

/**
 * Judges a target, which is either relative to the floor or a share of the limit at the time it was
 * set.
 */
function judge(row, cells, notes) {
  if (!cells.tollgate?.of) return { verdict: cells.tollgate?.error ? 'error' : '' }
  const { floor: own, limit: ofLimit, ...others } = cells.tollgate.of
  const beside = row.peers.map((peer) => others[peer]).filter(Boolean)
  const ofPeer = beside.length ? Math.min(...beside) : undefined
  const beatsPeers = !row.ofPeer || !ofPeer || ofPeer >= row.ofPeer
  const reachesLimit = !row.ofLimit || !ofLimit || ofLimit >= row.ofLimit
  if (!beatsPeers || !reachesLimit) return { ofLimit, ofPeer, verdict: 'no' }
  if (row.target === undefined || own >= row.target) return { ofLimit, ofPeer, verdict: 'yes' }
  if (!ofLimit || ofLimit < row.target / row.limit) return { ofLimit, ofPeer, verdict: 'no' }
  notes.push(
    '*  below the target as a part of the floor, but the same share of the limit as where it was set.',
  )
  return { ofLimit, ofPeer, verdict: 'yes*' }
}

function formatFrameworks(results, notes) {
  const header = [
    'framework',
    'bare GET',
    'bare POST',
    'empty middleware',
    'guarded',
    'in one',
    'target',
    'ok?',
  ]
  const body = results.map(({ framework, get, post, passing, guarded, joined }) => {
    // A bare `node:http` route is the floor itself, which has its target in the table above.
    const target = framework === 'plain' ? undefined : ofBareTarget
    const reaches = (cell) => target && cell?.of?.bare >= target
    return [
      framework,
      formatCell(get, notes, `${framework} GET`, 'plain'),
      formatCell(post, notes, `${framework} POST`, 'plain'),
      formatCell(passing, notes, `${framework} with an empty middleware`, 'bare'),
      formatCell(guarded, notes, `Tollgate on ${framework}`, 'bare'),
      formatCell(joined, notes, `Tollgate on ${framework}, in one with the handler`, 'bare'),
      formatRatio(target),
      target && guarded?.of ? judgeForms(reaches(guarded), reaches(joined)) : '',
    ]
  })
  notes.push(
    '   frameworks: the first two are parts of the floor, the others of the bare GET.',
    "   in one: auth('api', handler), which Hono calls without a promise where there is no middleware.",
  )
  return formatTable(header, body)
}

/** Only the middleware earns a plain yes, because most people use that form. */
const judgeForms = (guarded, joined) => (guarded ? 'yes' : joined ? 'in one' : 'no')

function formatFlatness(results, notes) {
  const sizes = Object.keys(results[0]?.cells ?? {})
  const header = ['cost by stored tokens', 'of', ...sizes.map(formatSize), 'target', 'ok?']
  const body = results.map(({ row, subject, cells }) => {
    const costs = sizes.map((size) => 1 / (cells[size].of?.[sizes[0]] ?? Number.NaN))
    const flat = Math.max(...costs) <= flatTarget
    return [
      row.label,
      subject === 'tollgate' ? 'Tollgate' : subject,
      ...sizes.map((size, at) =>
        cells[size].error
          ? formatCell(cells[size], notes, `${row.label} ${size}`)
          : formatRatio(costs[at]),
      ),
      `≤ ${flatTarget}`,
      subject === 'tollgate' ? (flat ? 'yes' : 'no') : '',
    ]
  })
  return formatTable(header, body)
}

const formatSize = (size) => Number(size).toLocaleString('en').replaceAll(',', ' ')

/** @param {string} base the result that the cell is relative to */
function formatCell(cell, notes, label, base = 'floor') {
  if (!cell) return ''
  if (cell.error) {
    notes.push(`!  ${label}: ${cell.error.split('\n')[0].slice(0, 200)}`)
    return 'error'
  }
  return formatRatio(cell.of[base])
}

/** Formats two or three significant digits, without the zero before the point: .0123, .23, 1.04 */
function formatRatio(value) {
  if (value === undefined || value === null || Number.isNaN(value)) return ''
  if (value === 0) return '0'
  const digits = value >= 10 ? value.toFixed(0) : value.toPrecision(value >= 1 ? 3 : 2)
  return digits.replace(/^0\./, '.')
}

/**
 * Adds a note to results of servers that were not busy: their number measures the disk, Postgres or
 * other load on the machine.
 */
function noteIdle(results, notes) {
  const cells = results.flatMap(({ row, cells: byColumn }) =>
    Object.entries(byColumn).map(([column, cell]) => ({ row, column, ...cell })),
  )
  const disturbed = cells.filter((cell) => isDisturbed(cell, cell.row))
  if (disturbed.length)
    notes.push(
      `~  ${disturbed.length} of ${cells.length} figures were disturbed by other work on this machine.`,
    )
  const waiting = cells.filter(({ busy, others }) => busy < 0.85 && others <= 0.1)
  for (const { row, column, busy } of waiting)
    if (row.store !== 'memory' && column !== 'floor')
      notes.push(
        `~  ${row.label}, ${column}: waited for storage ${Math.round(100 - busy * 100)}% of the time.`,
      )
}
