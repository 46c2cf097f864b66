# alt: TFLOP/s of every candidate of the tuner against the length S, with a causal mask, two panels, D = 64 and D = 128. The candidates are points, spread over a wide range at each length. A line joins the winners, one the candidate with the tile of step 22, one FlashAttention-2. Candidates that were refused are red at the bottom, as many as there are: crosses where registers spill, plus signs where shared memory is too small.
# data: step-23.tsv tuned-flash.tsv peers-flash.tsv
causal = 1
load plotdir . '/23-field.gp'
