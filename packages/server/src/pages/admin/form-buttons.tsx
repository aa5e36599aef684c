import type { FC } from 'hono/jsx'
import { usePage } from '../parts/layout.tsx'

/**
 * The buttons of a form whose changes are easy to reverse. The Enter key presses the first button,
 * so the button that saves comes first.
 */
export const FormButtons: FC<{ action: string }> = ({ action }) => (
  <div class="buttons start">
    <button type="submit" class="primary" name="decision" value="go">
      {action}
    </button>
    <button type="submit" name="decision" value="stay" formnovalidate>
      {usePage().t('admin.back')}
    </button>
  </div>
)
