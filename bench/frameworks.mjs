import { withHalfTheRounds } from './copies.mjs'
import { mean, measure } from './measure.mjs'
import { bareRows, frameworks } from './rows.mjs'

const processes = 4

/**
 * Measures each framework's bare route relative to the floor. Then, in one application, measures
 * its guarded route relative to the bare one, and the bare route behind a middleware that does
 * nothing, which is the framework's own cost.
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

/** Plain `node:http` has no middleware, and only Hono's guard can include the handler. */
const routesOf = {
  plain: ['bare', 'resource'],
  fastify: ['bare', 'passing', 'resource'],
  hono: ['bare', 'passing', 'resource', 'joined'],
  express: ['bare', 'passing', 'resource'],
}

async function compare(framework, context) {
  const routes = routesOf[framework]
  const entries = Array.from({ length: processes }, (_, process) =>
    routes.map((route) => ({
      column: `${route} ${process}`,
      subject: 'tollgate',
      row: { ...bareRows.get, framework, route, guardedFirst: process % 2 === 1 },
      process,
    })),
  )
  const cells = Object.entries(await measure(entries.flat(), withHalfTheRounds(context)))
  const ratio = (route) => (routes.includes(route) ? ofBare(route, cells) : undefined)
  return { passing: ratio('passing'), guarded: ratio('resource'), joined: ratio('joined') }
}

/** Relates results to the bare route of the same process. */
function ofBare(route, cells) {
  const found = cells.filter(([column]) => column.startsWith(`${route} `))
  const failed = cells.find(([, cell]) => cell.error)
  if (failed) return failed[1]
  const ratios = found.map(([column, { of }]) => of[column.replace(route, 'bare')])
  const microseconds = mean(found.map(([, cell]) => cell.microseconds))
  return { of: { bare: mean(ratios) }, microseconds }
}
