import type { Context } from 'hono'
import type { Child } from 'hono/jsx'
import type { AppEnv } from '../http/variables.ts'
import { Layout } from './layout.tsx'

export interface PageOptions {
  readonly title: string
  readonly status?: 200 | 400 | 401 | 403 | 404 | 409 | 422 | 429 | 500 | 503
  /** Further origins a form of this page may lead to, by redirects; browsers check those too. */
  readonly formTargets?: readonly string[]
}

/** A whole page, with the headers every page has: no inline script or style, no framing, no caching. */
export function renderPage(
  c: Context<AppEnv>,
  options: PageOptions,
  content: Child,
): Response | Promise<Response> {
  const targets = ["'self'", ...(options.formTargets ?? [])].join(' ')
  c.header(
    'content-security-policy',
    `default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action ${targets}; frame-ancestors 'none'; base-uri 'none'`,
  )
  c.header('cache-control', 'no-store')
  const page = c.get('page')
  return c.html(
    <Layout title={options.title} page={page}>
      {content}
    </Layout>,
    options.status ?? 200,
  )
}
