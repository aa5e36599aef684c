import { raw } from 'hono/html'
import type { Child, FC } from 'hono/jsx'
import { assetUrl } from './assets.ts'
import type { PageContext } from './page-context.ts'

/** The frame of every page. */
export const Layout: FC<{ title: string; page: PageContext; children?: Child }> = (props) => {
  const { title, page, children } = props
  const { name } = page.service.config.settings
  return (
    <>
      {raw('<!doctype html>')}
      <html lang="en">
        <head>
          <meta charset="utf-8" />
          <meta name="viewport" content="width=device-width, initial-scale=1" />
          <meta name="color-scheme" content="light dark" />
          {page.csrfToken && <meta name="csrf-token" content={page.csrfToken} />}
          <title>{`${title} · ${name}`}</title>
          <link rel="icon" href={assetUrl('icon.svg')} type="image/svg+xml" />
          <link rel="stylesheet" href={assetUrl('style.css')} />
          <script type="module" src={assetUrl('app.js')} />
        </head>
        <body>
          <a class="skip" href="#main">
            Skip to content
          </a>
          <header class="bar">
            <a class="brand" href="/">
              {name}
            </a>
            {page.user && <Account page={page} />}
          </header>
          <main id="main">{children}</main>
        </body>
      </html>
    </>
  )
}

const Account: FC<{ page: PageContext }> = ({ page }) => (
  <form class="account" method="post" action="/logout">
    <CsrfField page={page} />
    <span>{page.user?.name ?? page.user?.email}</span>
    <button type="submit">Sign out</button>
  </form>
)

/** In every form of a signed-in person. */
export const CsrfField: FC<{ page: PageContext }> = ({ page }) => (
  <input type="hidden" name="csrf_token" value={page.csrfToken ?? ''} />
)
