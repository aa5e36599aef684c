import type { InitChoices } from '../choices.ts'
import { planEntryFile } from '../entry.ts'
import type { Framework } from '../framework.ts'
import { renderInstanceExports, renderPromiseExports } from '../template.ts'

/** Support for Fastify in `tollgate init`: Tollgate is a plugin, and guards are `onRequest` hooks. */
export const fastify: Framework = {
  name: 'Fastify',
  package: 'fastify',
  major: 5,
  types: [],
  plan: (project, choices) =>
    planEntryFile(
      {
        name: 'Fastify',
        adapter: 'Fastify',
        rules: {
          package: 'fastify',
          creation: /(?:[Ff]astify|require\(['"]fastify['"]\))(?:<[^\n]*?>)?/,
          statement: (app) => `${app}.register(tollgate)`,
          // The plugin that `fastify generate` writes, to which fastify-cli passes the application.
          marker: { line: /^([ \t]*)\/\/ Place here your custom code!.*\n/gm, app: 'fastify' },
        },
        template: ({ modules }, choices) => {
          const hook = modules === 'esm' ? '' : ', onRequestHookHandler'
          return {
            imports: `«import type { FastifyPluginAsync, FastifyRequest${hook} } from 'fastify'»`,
            request: 'FastifyRequest',
            path: `request.url.split('?')[0]`,
            example: [
              'For example, with @fastify/session (register these routes below the session):',
              '',
              "  const userId = request.session.get('userId')",
              '  return userId ? { id: userId, sessionId: request.session.sessionId } : null',
            ],
            exports: modules === 'esm' ? withAwait(choices) : withPromise(choices),
          }
        },
      },
      project,
      choices,
    ),
}

const ROUTE = `
  // A first guarded route, to try a token with. Remove it once routes of yours are guarded.
  app.get('/api/whoami', { onRequest: auth('client') }, async (request) => ({
    client: request.oauthClient?.clientId,
  }))
}`

const withAwait = (choices: InitChoices) => `
${renderInstanceExports(choices)}
const { routes, auth, scopes, user } = forFastify(oauth, { signedIn })
export { auth, scopes, user }

/** The routes of Tollgate, for \`app.register(tollgate)\`. */
export const tollgate«: FastifyPluginAsync» = async (app) => {
  app.register(routes)${choices.billing === 'none' ? '' : '\n  app.register(billingForFastify(billing).routes)'}
${ROUTE}`

const withPromise = (choices: InitChoices) => `
${renderPromiseExports(choices, 'Fastify')}
function onceOpen(
  pick«: (open: Awaited<typeof adapter>) => onRequestHookHandler»,
)«: onRequestHookHandler» {
  return function (request, reply, done) {
    adapter.then((open) => pick(open).call(this, request, reply, done), done)
  }
}
export const auth = (guard«?: 'api' | 'client'») => onceOpen((open) => open.auth(guard))
export const scopes = (...names«: string[]») => onceOpen((open) => open.scopes(...names))

/** The routes of Tollgate, for \`app.register(tollgate)\`. */
export const tollgate«: FastifyPluginAsync» = async (app) => {
  const { routes${choices.billing === 'none' ? '' : ', billingRoutes'} } = await adapter
  app.register(routes)${choices.billing === 'none' ? '' : '\n  app.register(billingRoutes)'}
${ROUTE}`
