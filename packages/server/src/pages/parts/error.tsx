import type { Context } from 'hono'
import type { AppEnv } from '../../http/variables.ts'
import { type PageOptions, renderPage } from './render.tsx'

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
        <a href="/">Go to the first page</a>
      </p>
    </section>,
  )
}
