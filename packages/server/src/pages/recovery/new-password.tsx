import type { FC } from 'hono/jsx'
import { TextField } from '../parts/fields.tsx'
import { usePage } from '../parts/layout.tsx'

/** The field for a password that the person chooses. */
export const NewPassword: FC<{ problem?: string | undefined }> = ({ problem }) => {
  const { t } = usePage()
  return (
    <TextField
      id="password"
      label={t('signIn.password')}
      hint={t('register.passwordHint')}
      problem={problem}
      input={{
        type: 'password',
        name: 'password',
        autocomplete: 'new-password',
        minlength: 8,
        required: true,
      }}
    />
  )
}
