import { measure } from './measure.mjs'
import { bareRows, frameworks } from './rows.mjs'

/** Each framework's bare routes, and the guarded route beside them in the same rounds. */
export async function measureFrameworks(context) {
  const bare = (row) =>
    frameworks.map((framework) => {
      const subject = framework === 'plain' ? 'floor' : framework
      return { column: framework, subject, row }
    })
  const guarded = context.own.includes('tollgate')
    ? frameworks.map((framework) => ({
        column: `guarded ${framework}`,
        subject: 'tollgate',
        row: { ...bareRows.get, framework },
      }))
    : []
  const get = await measure([...bare(bareRows.get), ...guarded], context)
  const post = await measure(bare(bareRows.post), context)
  return frameworks.map((framework) => ({
    framework,
    get: get[framework],
    post: post[framework],
    guarded: get[`guarded ${framework}`],
  }))
}
