import { raw } from 'hono/html'
import type { Child, FC } from 'hono/jsx'
import { assetUrl } from './assets.ts'

export interface DocumentProps {
  readonly title: string
  /** Of the service, on every page. */
  readonly name: string
  /** Null when nobody is signed in. */
  readonly csrfToken?: string | null
  /** False where the page's policy allows no script. Default true. */
  readonly script?: boolean
  /** Beside the name, at the top. */
  readonly header?: Child
  readonly children?: Child
}

/** A whole HTML document: what all pages have in common, whoever sends them. */
export const Document: FC<DocumentProps> = (props) => (
  <>
    {raw('<!doctype html>')}
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        {props.csrfToken && <meta name="csrf-token" content={props.csrfToken} />}
        <title>{`${props.title} · ${props.name}`}</title>
        <link rel="icon" href={assetUrl('icon.svg')} type="image/svg+xml" />
        <link rel="stylesheet" href={assetUrl('style.css')} />
        {props.script !== false && <script type="module" src={assetUrl('app.js')} />}
      </head>
      <body>
        <a class="skip" href="#main">
          Skip to content
        </a>
        <header class="bar">
          <a class="brand" href="/">
            <img src={assetUrl('icon.svg')} alt="" width="28" height="28" />
            <span>{props.name}</span>
          </a>
          {props.header}
        </header>
        <main id="main" tabindex={-1}>
          {props.children}
        </main>
      </body>
    </html>
  </>
)
