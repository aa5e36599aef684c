import type { Child, FC } from 'hono/jsx'
import type { PageContext } from '../../http/variables.ts'
import { Document } from './document.tsx'

/** The frame of every page: where one can go, and who is signed in. */
export const Layout: FC<{ title: string; page: PageContext; children?: Child }> = (props) => {
  const { title, page, children } = props
  return (
    <Document
      title={title}
      name={page.service.config.settings.name}
      csrfToken={page.csrfToken}
      header={page.user && [<Navigation page={page} />, <Account page={page} />]}
    >
      <p id="status" class="status" role="status" />
      {children}
    </Document>
  )
}

const PLACES = [
  { path: '/clients', title: 'Clients' },
  { path: '/tokens', title: 'Tokens' },
  { path: '/applications', title: 'Applications' },
  { path: '/billing', title: 'Billing' },
  { path: '/overview', title: 'Overview', operator: true },
]

const Navigation: FC<{ page: PageContext }> = ({ page }) => (
  <nav class="places" aria-label="Main">
    <ul>
      {PLACES.filter((place) => !place.operator || page.user?.operator).map(({ path, title }) => (
        <li>
          <a href={path} aria-current={currentOf(page.path, path)}>
            {title}
          </a>
        </li>
      ))}
    </ul>
  </nav>
)

/** Pages below a place belong to it, and so does what a form there answers. */
function currentOf(path: string, place: string): 'page' | 'true' | undefined {
  if (path === place) return 'page'
  return path.startsWith(`${place}/`) ? 'true' : undefined
}

const Account: FC<{ page: PageContext }> = ({ page }) => (
  <form class="account" method="post" action="/logout">
    <CsrfField page={page} />
    <a class="who" href="/account">
      <bdi>{page.user?.name ?? page.user?.email}</bdi>
    </a>
    <button class="small" type="submit">
      Sign out
    </button>
  </form>
)

/** In every form of a signed-in person. */
export const CsrfField: FC<{ page: PageContext }> = ({ page }) => (
  <input type="hidden" name="csrf_token" value={page.csrfToken ?? ''} />
)
