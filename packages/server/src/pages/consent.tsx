import type {
  ConsentView,
  DeviceAnswered,
  DeviceQuestion,
  DeviceView,
  ErrorView,
  Pages,
  SignOutView,
  UserCodeForm,
} from '@tollgate/oauth'
import type { Child, FC } from 'hono/jsx'
import type { Settings } from '../config/settings.ts'
import { type PageText, textFor } from '../messages/messages.ts'
import type { User } from '../users/user.ts'
import {
  type ApprovalContext,
  ApprovalForm,
  ClientDetails,
  RequestHeading,
} from './parts/approval.tsx'
import { getBrand } from './parts/brand.ts'
import { Submit, TextField } from './parts/fields.tsx'
import { Document } from './parts/layout.tsx'

export interface AuthorizationPagesOptions {
  readonly settings: Settings
  readonly findUser: (id: string) => Promise<User | null>
}

/**
 * Creates the pages of `/oauth/authorize`, `/oauth/device` and `/oauth/logout` for the
 * authorization server. They must work without JavaScript, which their content security policy
 * forbids.
 */
export function createAuthorizationPages({
  settings,
  findUser,
}: AuthorizationPagesOptions): Partial<Pages> {
  const { name } = settings
  const contextOf = async (
    view: ConsentView | DeviceQuestion,
    t: PageText,
  ): Promise<ApprovalContext> => {
    const { userId } = view.client
    const [user, owner] = await Promise.all([
      findUser(view.userId),
      userId === null ? null : findUser(userId),
    ])
    return { name, user, owner, t }
  }
  const page = (title: string, t: PageText, content: Child) =>
    String(
      <Document title={title} brand={getBrand(settings)} t={t} script={false}>
        {content}
      </Document>,
    )
  return {
    async consent(view) {
      const t = textFor([view.language])
      return page(t('approve.title'), t, <Consent view={view} context={await contextOf(view, t)} />)
    },
    async device(view) {
      const t = textFor([view.language])
      const context = view.step === 'confirm' ? await contextOf(view, t) : null
      return page(
        t(`device.${view.step}.title`),
        t,
        <DevicePage view={view} context={context} t={t} />,
      )
    },
    error(view) {
      const t = textFor([view.language])
      return page(t('refused.title'), t, <Refused view={view} t={t} />)
    },
    async signOut(view) {
      const t = textFor([view.language])
      const user = await findUser(view.userId)
      return page(t('signOut.title'), t, <SignOut view={view} user={user} t={t} />)
    },
    signedOut({ stillSignedIn, language }) {
      const t = textFor([language])
      const title = t(stillSignedIn ? 'stillSignedIn.title' : 'signedOut.title')
      return page(title, t, <SignedOut stillSignedIn={stillSignedIn} t={t} />)
    },
  }
}

const Consent: FC<{ view: ConsentView; context: ApprovalContext }> = ({ view, context }) => (
  <section class="card narrow consent">
    <RequestHeading view={view} context={context} heading="approve.heading" />
    <ClientDetails view={view} context={context} />
    <ApprovalForm view={view} t={context.t}>
      <p class="quiet-text">
        {context.t.parts('approve.later', { applications: <ApplicationsLink t={context.t} /> })}
      </p>
    </ApprovalForm>
  </section>
)

/** Opens a new tab, because the question must stay open. */
const ApplicationsLink: FC<{ t: PageText }> = ({ t }) => (
  <a href="/applications" target="_blank" rel="noopener">
    {t('places.applications')}
  </a>
)

const Refused: FC<{ view: ErrorView; t: PageText }> = ({ view, t }) => {
  // Messages for developers are always in English.
  const lang = view.isTechnical ? 'en' : undefined
  return (
    <section class="card narrow">
      <h1>{t('refused.heading')}</h1>
      <p lang={lang}>{sentence(view.message)}</p>
      {view.hint !== null && (
        <p class="quiet-text" lang={lang}>
          {sentence(view.hint)}
        </p>
      )}
      {view.again !== null && (
        <p>
          <a class="button primary" href={view.again}>
            {t('refused.again')}
          </a>
        </p>
      )}
      {view.isTechnical && <p class="notice">{t('refused.forDevelopers')}</p>}
      <p>
        <a href="/">{t('layout.firstPage')}</a>
      </p>
    </section>
  )
}

/** Ends the text with one full stop. Messages for developers lack it. */
function sentence(text: string): string {
  return text.replace(/\.?$/, '.')
}

/** The steps of `/oauth/device`: enter the code, approve or deny, done. */
const DevicePage: FC<{ view: DeviceView; context: ApprovalContext | null; t: PageText }> = (
  props,
) => {
  const { view, context, t } = props
  switch (view.step) {
    case 'enter':
      return <EnterCode view={view} t={t} />
    case 'confirm':
      return context && <Confirm view={view} context={context} />
    case 'done':
      return <Done view={view} t={t} />
  }
}

const EnterCode: FC<{ view: UserCodeForm; t: PageText }> = ({ view, t }) => (
  <section class="card narrow">
    <h1>{t('device.enter.title')}</h1>
    <p>{t('device.enter.text')}</p>
    <form method="post" action={view.action}>
      <input type="hidden" name="csrf_token" value={view.csrfToken} />
      <TextField
        id="user_code"
        label={t('device.enter.label')}
        hint={t('device.enter.hint')}
        problem={view.problem ?? undefined}
        input={{
          name: 'user_code',
          class: 'user-code',
          value: view.userCode,
          autocomplete: 'off',
          autocapitalize: 'characters',
          spellcheck: 'false',
          maxlength: 20,
          required: true,
        }}
      />
      <Submit class="primary wide">{t('device.enter.button')}</Submit>
    </form>
  </section>
)

const Confirm: FC<{ view: DeviceQuestion; context: ApprovalContext }> = ({ view, context }) => (
  <section class="card narrow consent">
    <RequestHeading view={view} context={context} heading="device.confirm.heading" />
    <p>{context.t('device.confirm.compare')}</p>
    <p class="user-code">{view.userCode}</p>
    <p class="notice">
      {context.t.parts('device.confirm.warning', {
        label: <strong>{context.t('device.confirm.warning.label')}</strong>,
      })}
    </p>
    <ClientDetails view={view} context={context} />
    <ApprovalForm view={view} t={context.t} />
  </section>
)

const Done: FC<{ view: DeviceAnswered; t: PageText }> = ({ view, t }) => {
  const application = <bdi>{view.client.name}</bdi>
  return (
    <section class="card narrow">
      <h1>
        {t.parts(view.approved ? 'device.approved.heading' : 'device.denied.heading', {
          application,
        })}
      </h1>
      {view.approved ? (
        <>
          <p>{t('device.approved.text')}</p>
          <p>{t.parts('approve.later', { applications: <ApplicationsLink t={t} /> })}</p>
        </>
      ) : (
        <p>{t('device.denied.text')}</p>
      )}
    </section>
  )
}

/** Asks whether to sign out, because a client or another site has sent the person here. */
const SignOut: FC<{ view: SignOutView; user: User | null; t: PageText }> = ({ view, user, t }) => (
  <section class="card narrow">
    <h1>{t('signOut.title')}</h1>
    {user && (
      <p class="quiet-text">
        {t.parts('home.signedInAs', { email: <strong>{user.email}</strong> })}
      </p>
    )}
    <p>
      {view.client && (
        <>{t.parts('signOut.byApplication', { application: <bdi>{view.client.name}</bdi> })} </>
      )}
      {t('signOut.text')}
    </p>
    {view.destination !== null && (
      <p class="notice">
        {t.parts('signOut.destination', { destination: <strong>{view.destination}</strong> })}
      </p>
    )}
    {view.problem !== null && (
      <p class="notice">{t('signOut.stayHere', { problem: view.problem })}</p>
    )}
    <form method="post" action={view.action}>
      {Object.entries(view.fields).map(([name, value]) => (
        <input type="hidden" name={name} value={value} />
      ))}
      <div class="buttons wide">
        <button name="decision" value="stay" type="submit">
          {t('signOut.stay')}
        </button>
        <button class="primary" name="decision" value="sign_out" type="submit">
          {t('layout.signOut')}
        </button>
      </div>
    </form>
  </section>
)

const SignedOut: FC<{ stillSignedIn: boolean; t: PageText }> = ({ stillSignedIn, t }) => {
  const page = stillSignedIn ? 'stillSignedIn' : 'signedOut'
  return (
    <section class="card narrow">
      <h1>{t(`${page}.heading`)}</h1>
      <p>{t(`${page}.text`)}</p>
      <p>
        {stillSignedIn ? (
          <a href="/">{t('layout.firstPage')}</a>
        ) : (
          <a href="/login">{t('signIn.title')}</a>
        )}
      </p>
    </section>
  )
}
