import type { InitChoices } from '../choices.ts'
import { planEntryFile } from '../entry.ts'
import type { Framework } from '../framework.ts'
import { renderInstanceExports, renderPromiseExports } from '../template.ts'

/** Support for Express in `tollgate init`: Tollgate is a Router, and guards are middleware. */
export const express: Framework = {
  name: 'Express',
  package: 'express',
  major: 5,
  types: ['@types/express'],
  plan: (project, choices) =>
    planEntryFile(
      {
        name: 'Express',
        adapter: 'Express',
        rules: {
          package: 'express',
          creation: /express/,
          statement: (app) => `${app}.use(tollgate)`,
        },
        template: ({ modules }, choices) => {
          const types = modules === 'esm' ? 'type Request' : 'type Request, type RequestHandler'
          return {
            imports: `import { Router«, ${types}» } from 'express'`,
            request: 'Request',
            path: 'request.path',
            example: [
              'For example, with express-session (mount these routes below the session):',
              '',
              '  const { userId } = request.session',
              '  return userId ? { id: userId, sessionId: request.sessionID } : null',
            ],
            exports: `${modules === 'esm' ? withAwait(choices) : withPromise(choices)}\n${ROUTE}`,
          }
        },
      },
      project,
      choices,
    ),
}

const ROUTE = `
// A first guarded route, to try a token with. Remove it once routes of yours are guarded.
tollgate.get('/api/whoami', auth('client'), (request, response) => {
  response.json({ client: request.oauthClient?.clientId })
})`

const withAwait = (choices: InitChoices) => `
${renderInstanceExports(choices)}
const { routes, auth, scopes, user } = forExpress(oauth, { signedIn })
export { auth, scopes, user }

/** The routes of Tollgate, for \`app.use(tollgate)\`. */
export const tollgate = Router()
tollgate.use(routes)${choices.billing === 'none' ? '' : '\ntollgate.use(billingForExpress(billing).routes)'}`

const withPromise = (choices: InitChoices) => `
${renderPromiseExports(choices, 'Express')}
function onceOpen(pick«: (open: Awaited<typeof adapter>) => RequestHandler»)«: RequestHandler» {
  return async (request, response, next) => pick(await adapter)(request, response, next)
}
export const auth = (guard«?: 'api' | 'client'») => onceOpen((open) => open.auth(guard))
export const scopes = (...names«: string[]») => onceOpen((open) => open.scopes(...names))

/** The routes of Tollgate, for \`app.use(tollgate)\`. */
export const tollgate = Router()
tollgate.use(onceOpen(({ routes }) => routes))${choices.billing === 'none' ? '' : '\ntollgate.use(onceOpen(({ billingRoutes }) => billingRoutes))'}`
