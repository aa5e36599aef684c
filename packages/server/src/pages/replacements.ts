import type { Hono } from 'hono'
import { didYouMean } from '../config/did-you-mean.ts'
import type { PageReplacement } from '../config/shapes.ts'
import { ConfigurationError } from '../configuration-error.ts'
import type { AppEnv } from '../http/variables.ts'

/** Statuses of a page and of its forms. Others belong to error pages, which are not replaced. */
const REPLACED = [200, 400, 401, 409, 422]

/**
 * Adds pages, and lets the functions of the setting `servicePages` replace them one by one. A page
 * is first built as usual, so a replacement cannot leave out a check: it is only asked once the
 * service has decided to show the page to this person. Its content security policy stays.
 * @throws ConfigurationError if a path is no page that can be replaced.
 */
export function withReplacements(
  app: Hono<AppEnv>,
  replacements: Readonly<Record<string, PageReplacement>>,
  addPages: () => void,
): void {
  for (const [path, replace] of Object.entries(replacements)) {
    app.use(path, async (c, next) => {
      await next()
      const { res } = c
      const isPage = res.headers.get('content-type')?.startsWith('text/html') ?? false
      if (c.error || !isPage || !REPLACED.includes(res.status)) return
      const html = await res.clone().text()
      const { user, csrfToken, t, service } = c.get('page')
      try {
        const own = await replace({
          html,
          main: /<main[^>]*>([\s\S]*)<\/main>/.exec(html)?.[1] ?? '',
          status: res.status,
          request: c.req.raw,
          user: user && { id: user.id, email: user.email, name: user.name },
          csrfToken,
          language: t.locale,
        })
        c.res = new Response(own, res)
      } catch (error) {
        service.logger.error({ err: error, path }, 'The setting servicePages failed for this page')
      }
    })
  }
  const before = app.routes.length
  addPages()
  const paths = app.routes
    .slice(before)
    .filter(({ method, path }) => method === 'GET' && isReplaceable(path))
    .map(({ path }) => path)
  for (const path of Object.keys(replacements)) {
    if (paths.includes(path)) continue
    throw new ConfigurationError(
      `servicePages: the service has no page ${path} that can be replaced.${didYouMean(path, paths)} The pages are listed at docs/reference/service.md`,
    )
  }
}

/** Pages of operators are not replaced: they show everything about everybody. */
const isReplaceable = (path: string) => !path.startsWith('/admin') && !path.includes('*')
