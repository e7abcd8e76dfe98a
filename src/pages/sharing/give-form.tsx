/** @jsxImportSource @kitajs/html */
import { VERBS } from '../../accounts/rights/principal.ts';
import { shareAddress } from './share-address.ts';
import { ReceiverBox, type ReceiverName } from '../admin/cells.tsx';
import type { FrameView } from '../frame.tsx';
import { PostForm, Select } from '../parts/forms.tsx';

interface GiveProps {
  readonly frame: FrameView;
  readonly resource: string;
  readonly names: readonly ReceiverName[];
  readonly to: string;
  readonly right: string;
}

/** Also the remedy where it is explained why somebody may not. */
export function GiveForm({ frame, resource, names, to, right }: GiveProps) {
  return (
    <PostForm class="filter query" frame={frame} to={shareAddress(resource)} does="give">
      <ReceiverBox names={names} value={to} />
      <label>
        May
        <Select
          name="right"
          choices={VERBS.map((verb) => [verb, verb === 'read' ? 'read it' : 'change it'])}
          chosen={right}
        />
      </label>
      <button type="submit">Give access</button>
    </PostForm>
  );
}
