import type { Hono } from 'hono'
import type { FC } from 'hono/jsx'
import type { AppEnv } from '../http/variables.ts'
import { DemoFlows } from './demo-application.tsx'
import { requireUser, userOf } from './parts/page-context.ts'
import { renderPage } from './parts/render.tsx'

interface Place {
  readonly path: string
  readonly title: string
  readonly text: string
}

const PLACES: readonly Place[] = [
  {
    path: '/clients',
    title: 'Clients',
    text: 'Register applications that ask people here for access.',
  },
  {
    path: '/tokens',
    title: 'Personal access tokens',
    text: 'Make tokens for your own scripts and programs.',
  },
  {
    path: '/applications',
    title: 'Authorized applications',
    text: 'See what others may do in your name, and end it.',
  },
  {
    path: '/billing',
    title: 'Billing',
    text: 'Choose a plan, change your card, read your invoices.',
  },
]

const OVERVIEW: Place = {
  path: '/overview',
  title: 'Overview',
  text: 'Tokens, subscriptions and revenue of the whole service.',
}

export function addHome(app: Hono<AppEnv>): void {
  app.get('/', requireUser(), (c) => {
    const user = userOf(c)
    const { demo } = c.get('page').service
    return renderPage(
      c,
      { title: 'Home' },
      <>
        <div class="heading">
          <div>
            <h1>
              Welcome
              {user.name && (
                <>
                  , <bdi>{user.name}</bdi>
                </>
              )}
            </h1>
            <p class="lead">
              You are signed in as <strong>{user.email}</strong>.
            </p>
          </div>
        </div>
        <ul class="tiles">
          {[...PLACES, ...(user.operator ? [OVERVIEW] : [])].map((place) => (
            <Tile place={place} />
          ))}
        </ul>
        {demo?.clients.web && (
          <DemoFlows implicit={c.get('page').service.config.settings.implicitGrant} />
        )}
      </>,
    )
  })
}

const Tile: FC<{ place: Place }> = ({ place }) => (
  <li class="card tile">
    <h2>
      <a href={place.path}>{place.title}</a>
    </h2>
    <p>{place.text}</p>
  </li>
)
