import { measure } from './measure.mjs'
import { bareRows, frameworks } from './rows.mjs'

/** Two processes with the same code differ by some percent, for as long as they run. */
const processes = 2

/** Each framework's bare routes as parts of the floor, and its guarded route as a part of the bare one. */
export async function measureFrameworks(context) {
  const get = await measure(listBare(bareRows.get), context)
  const post = await measure(listBare(bareRows.post), context)
  const results = []
  for (const framework of frameworks) {
    const guarded = context.own.includes('tollgate') && (await measureGuarded(framework, context))
    results.push({ framework, get: get[framework], post: post[framework], guarded })
  }
  return results
}

const subjectOf = (framework) => (framework === 'plain' ? 'floor' : framework)

const listBare = (row) =>
  frameworks.map((framework) => ({ column: framework, subject: subjectOf(framework), row }))

async function measureGuarded(framework, context) {
  const row = { ...bareRows.get, framework }
  const pairs = Array.from({ length: processes }, (_, at) => [
    { column: `bare ${at}`, subject: subjectOf(framework), row },
    { column: `guarded ${at}`, subject: 'tollgate', row },
  ])
  const cells = Object.entries(await measure(pairs.flat(), context))
  const failed = cells.find(([, cell]) => cell.error)
  if (failed) return failed[1]
  const found = (kind) => cells.filter(([column]) => column.startsWith(kind))
  const ratios = found('guarded').flatMap(([, { of }]) => found('bare').map(([bare]) => of[bare]))
  const microseconds = (kind) => mean(found(kind).map(([, cell]) => cell.microseconds))
  return {
    ofBare: mean(ratios),
    microseconds: { bare: microseconds('bare'), guarded: microseconds('guarded') },
  }
}

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length
