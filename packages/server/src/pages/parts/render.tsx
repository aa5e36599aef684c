import type { Context } from 'hono'
import type { Child } from 'hono/jsx'
import type { AppEnv } from '../../http/variables.ts'
import { Layout } from './layout.tsx'

type Directive =
  | 'script-src'
  | 'style-src'
  | 'style-src-attr'
  | 'img-src'
  | 'frame-src'
  | 'connect-src'
  | 'form-action'

/**
 * Sources that the content security policy of a page allows in addition to the service's own
 * origin.
 */
export type ContentPolicy = Partial<Readonly<Record<Directive, readonly string[]>>>

export interface PageOptions {
  readonly title: string
  readonly status?:
    | 200
    | 400
    | 401
    | 402
    | 403
    | 404
    | 409
    | 412
    | 422
    | 428
    | 429
    | 500
    | 502
    | 503
  /**
   * Further origins to which a form of this page may lead by a redirect. The content security
   * policy applies to redirects, too.
   */
  readonly formTargets?: readonly string[]
  /** Origins the page may load from, such as a payment provider's script. */
  readonly policy?: ContentPolicy
  /** Whether a script of the page communicates with windows on other origins, as PayPal's does. */
  readonly opensWindows?: boolean
}

const OWN: ContentPolicy = {
  'style-src': ["'self'"],
  'script-src': ["'self'"],
  'img-src': ["'self'"],
  'connect-src': ["'self'"],
}

function contentPolicy({ formTargets = [], policy = {} }: PageOptions): string {
  const { 'form-action': targets = [], ...loaded } = policy
  const names = new Set([...Object.keys(OWN), ...Object.keys(loaded)] as Directive[])
  const sources = [...names].map((name) =>
    [name, ...(OWN[name] ?? []), ...(policy[name] ?? [])].join(' '),
  )
  const forms = ['form-action', "'self'", ...targets, ...formTargets].join(' ')
  const rest = ["frame-ancestors 'none'", "base-uri 'none'"]
  return ["default-src 'none'", ...sources, forms, ...rest].join('; ')
}

/**
 * Renders a page with strict security headers: no inline script or style, no framing, no caching.
 */
export function renderPage(
  c: Context<AppEnv>,
  options: PageOptions,
  content: Child,
): Response | Promise<Response> {
  c.header('content-security-policy', contentPolicy(options))
  c.header('cache-control', 'no-store')
  if (options.opensWindows) c.header('cross-origin-opener-policy', 'same-origin-allow-popups')
  const page = c.get('page')
  return c.html(
    <Layout title={options.title} page={page}>
      {content}
    </Layout>,
    options.status ?? 200,
  )
}

export function errorPage(
  c: Context<AppEnv>,
  view: { readonly status: NonNullable<PageOptions['status']>; title: string; message: string },
): Response | Promise<Response> {
  return renderPage(
    c,
    { title: view.title, status: view.status },
    <section class="card narrow">
      <h1>{view.title}</h1>
      <p>{view.message}</p>
      <p class="aside">
        <a href="/">{c.get('page').t('layout.firstPage')}</a>
      </p>
    </section>,
  )
}
