import { measure } from './measure.mjs'
import { bareRows, frameworks } from './rows.mjs'

/** Two processes with the same code differ by some percent, for as long as they run. */
const processes = 2

/**
 * Each framework's bare routes as parts of the floor; its guarded route as a part of the bare one, and
 * beside it the bare route behind a middleware that does nothing, which is the framework's own share.
 */
export async function measureFrameworks(context) {
  const get = await measure(listBare(bareRows.get), context)
  const post = await measure(listBare(bareRows.post), context)
  const results = []
  for (const framework of frameworks) {
    const compared = context.own.includes('tollgate') ? await compare(framework, context) : {}
    results.push({ framework, get: get[framework], post: post[framework], ...compared })
  }
  return results
}

const subjectOf = (framework) => (framework === 'plain' ? 'floor' : framework)

const listBare = (row) =>
  frameworks.map((framework) => ({ column: framework, subject: subjectOf(framework), row }))

async function compare(framework, context) {
  const row = { ...bareRows.get, framework }
  const subject = subjectOf(framework)
  const kinds = {
    bare: { subject, row },
    // Plain `node:http` has no middleware.
    ...(framework === 'plain' ? {} : { passing: { subject, row: { ...row, middleware: true } } }),
    guarded: { subject: 'tollgate', row },
  }
  const entries = Array.from({ length: processes }, (_, at) =>
    Object.entries(kinds).map(([kind, entry]) => ({ column: `${kind} ${at}`, ...entry })),
  )
  const cells = Object.entries(await measure(entries.flat(), context))
  return Object.fromEntries(Object.keys(kinds).map((kind) => [kind, ofBare(kind, cells)]))
}

function ofBare(kind, cells) {
  const found = (wanted) => cells.filter(([column]) => column.startsWith(wanted))
  const failed = [...found(kind), ...found('bare')].find(([, cell]) => cell.error)
  if (failed) return failed[1]
  const ratios = found(kind).flatMap(([, { of }]) => found('bare').map(([bare]) => of[bare]))
  const microseconds = mean(found(kind).map(([, cell]) => cell.microseconds))
  return { of: { bare: mean(ratios) }, microseconds }
}

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length
