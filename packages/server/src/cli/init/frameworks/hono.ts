import { UsageError } from '../../usage-error.ts'
import type { InitChoices } from '../choices.ts'
import { planEntryFile } from '../entry.ts'
import type { Framework } from '../framework.ts'
import { renderInstanceExports } from '../template.ts'

/** Support for Hono on Node in `tollgate init`: `app.route()` mounts Tollgate as an application. */
export const hono: Framework = {
  name: 'Hono',
  package: 'hono',
  major: 4,
  types: [],
  plan(project, choices) {
    if (!('@hono/node-server' in project.packages)) {
      throw new UsageError(
        'package.json does not list @hono/node-server, and Tollgate runs on Node only. Install it and serve the application with it, then run tollgate init again: npm install @hono/node-server',
      )
    }
    return planEntryFile(
      {
        name: 'Hono',
        adapter: 'Hono',
        rules: {
          package: 'hono',
          creation: /new Hono(?:<[^\n]*?>)?/,
          statement: (app) => `${app}.route('/', tollgate)`,
        },
        template: ({ modules }, choices) =>
          modules === 'commonjs'
            ? null
            : {
                imports: `import { «type Context, »Hono } from 'hono'`,
                request: 'Context',
                path: 'request.req.path',
                example: [
                  'The request is the context of Hono. For example, with your own session:',
                  '',
                  "  const session = await readSession(request.req.header('cookie'))",
                  '  return session && { id: session.userId, sessionId: session.id }',
                ],
                exports: exportsOf(choices),
              },
      },
      project,
      choices,
    )
  },
}

const exportsOf = (choices: InitChoices) => `
${renderInstanceExports(choices)}
const { routes, auth, scopes } = forHono(oauth, { signedIn })
export { auth, scopes }

/** The routes of Tollgate, for \`app.route('/', tollgate)\`. */
export const tollgate = new Hono()
tollgate.use(routes)${choices.billing === 'none' ? '' : '\ntollgate.use(billingForHono(billing).routes)'}

// A first guarded route, to try a token with. Remove it once routes of yours are guarded.
tollgate.get('/api/whoami', auth('client'), (c) =>
  c.json({ client: c.get('oauthClient').clientId }),
)`
