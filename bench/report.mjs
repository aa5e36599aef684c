import { formatTable } from './format-table.mjs'
import { isDisturbed } from './measure.mjs'
import { flatTarget, ofBareTarget, openidPeers, servers, verifiers } from './rows.mjs'

const titles = {
  'fastify-jwt': '@fastify/jwt',
  'express-jwt': 'express-oauth2-jwt-bearer',
}

/** Everything that was measured, as one page of text. */
export function formatReport(results) {
  const notes = []
  const sections = [
    formatRows('token endpoints', results.servers, servers, notes),
    formatRows('guarded routes', results.guarded, verifiers, notes),
    formatOpenid(results.openid, notes),
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
${machine.cpu} (${machine.arch}), ${machine.cores} cores, Node ${machine.node}; ${minutes.toFixed(1)} minutes.${data ? ` Databases in ${data}.` : ''}${
    before ? `\n\`before\` is commit ${before}; \`/before\` is Tollgate as times that.` : ''
  }`
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
      formatRatio(row.target),
      verdict,
    ]
  })
  if (peers.includes('node-oauth')) notes.push('°  with opaque tokens; the others sign.')
  noteIdle(results, notes)
  return formatTable(header, body)
}

/** How many times as much as each of the two that have OpenID Connect. */
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

/** A target is met as a part of the floor, or as the share of the limit that it was set at. */
function judge(row, cells, notes) {
  if (!cells.tollgate?.of) return { verdict: cells.tollgate?.error ? 'error' : '' }
  const { floor: own, limit: ofLimit, ...others } = cells.tollgate.of
  const beside = row.peers.map((peer) => others[peer]).filter(Boolean)
  const ofPeer = beside.length ? Math.min(...beside) : undefined
  const beatsPeers = !row.ofPeer || !ofPeer || ofPeer >= row.ofPeer
  if (!beatsPeers) return { ofLimit, ofPeer, verdict: 'no' }
  if (own >= row.target) return { ofLimit, ofPeer, verdict: 'yes' }
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
    // A bare `node:http` route is the floor itself, for which the table above has a target.
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

/** The middleware is what most people write, so that only it earns a plain yes. */
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

/** @param {string} base what it is a part of */
function formatCell(cell, notes, label, base = 'floor') {
  if (!cell) return ''
  if (cell.error) {
    notes.push(`!  ${label}: ${cell.error.split('\n')[0].slice(0, 200)}`)
    return 'error'
  }
  return formatRatio(cell.of[base])
}

/** Two or three significant digits, without the zero before the point: .0123, .23, 1.04 */
function formatRatio(value) {
  if (value === undefined || value === null || Number.isNaN(value)) return ''
  if (value === 0) return '0'
  const digits = value >= 10 ? value.toFixed(0) : value.toPrecision(value >= 1 ? 3 : 2)
  return digits.replace(/^0\./, '.')
}

/**
 * A server that was not busy is not what its figure is about: the disk, Postgres, or other work of
 * the machine is.
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
